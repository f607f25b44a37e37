import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isRowKind, KINDS, type Kind, ROW_KINDS } from '../../src/domain/areas.js';
import {
  PLACE_COLUMNS,
  REASON_COLUMNS,
  RECEIPT_COLUMNS,
  REJECTION_COLUMNS,
  STATUS_COLUMN,
  TEXT_COLUMN,
} from '../../src/domain/output-columns.js';
import { ceilings, defaultLimits } from '../../src/job/limits.js';
import { parseJob } from '../../src/job/load.js';
import { createClients } from '../../src/service/clients.js';
import { ALL_PAGES, listNames, ROOT, readPage, readSection, readTables } from './page.js';

const page = readPage('jobs/reference/job-file.md');
const kinds = Object.keys(KINDS) as Kind[];
const calls = Object.entries(createClients(() => Promise.reject(new Error('none is made')))).flatMap(([area, client]) =>
  Object.keys(client).map((call) => `service.${area}.${call}`),
);
const pages = ALL_PAGES.map(readPage);

describe.each(kinds)('the section of %s in the reference', (kind) => {
  const tables = readTables(readSection(page, kind));
  const facts = new Map(
    tables.find(({ head }) => head[0] === `of \`${kind}\``)?.rows.map(([of, words]) => [of, words]),
  );

  test('names the columns of its results, in their order', () => {
    const [columns = ''] = listNames(facts.get('results') ?? '');

    expect(columns.split(' ')).toEqual(isRowKind(kind) ? ROW_KINDS[kind].resultColumns : ['']);
  });

  test('gives its limits, by default and at most', () => {
    const most = ceilings[KINDS[kind].area];
    const units = ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const;
    const wanted = units
      // Calls of a step without rows go one at a time.
      .filter((unit) => unit !== 'concurrency' || isRowKind(kind))
      .flatMap((unit) => [defaultLimits[kind][unit], most[unit]])
      .flatMap((limit) => (limit === undefined ? [] : [limit.toLocaleString('en-US')]));

    expect(facts.get('limits')?.match(/\d[\d,]*(?<!,)/g)).toEqual(wanted);
  });

  test('names its call in the library', () => {
    const named = listNames(facts.get('from a program') ?? '');

    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((call) => !calls.includes(call) || !call.startsWith(`service.${KINDS[kind].area}.`))).toEqual(
      [],
    );
  });

  test('has an example: it shows one, or a job in jobs/ has such a step', () => {
    const shown = [...page.text.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, text = '']) => stepsIn(text));
    const ofJobs = readdirSync(`${ROOT}jobs`)
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => stepsIn(readFileSync(`${ROOT}jobs/${name}`, 'utf8')));

    expect([...shown, ...ofJobs]).toContain(kind);
  });
});

test('the reference lists every kind, and no other', () => {
  const [row = []] = readTables(readSection(page, 'Steps')).flatMap(({ rows }) => rows);
  const sections = [...readSection(page, 'Steps').matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);

  expect(listNames(row[2] ?? '')).toEqual(kinds);
  expect(sections).toEqual(kinds);
});

test('the pages name every call of the library, and none that does not exist', () => {
  const named = new Set(pages.flatMap(({ text }) => text.match(/\bservice\.\w+\.\w+(?=[(`])/g) ?? []));
  const ofCalls = [...named].filter((name) =>
    /^service\.(sms|contacts|verification|gateway|campaign|chat)\.[a-z]+[A-Z]/.test(name),
  );

  expect(ofCalls.toSorted()).toEqual(calls.toSorted());
});

describe.each(pages)('$path', ({ text, spans }) => {
  test('names kinds of step that exist', () => {
    const named = [...text.matchAll(/\bkind: ([a-z]+(?:\.[a-z]+)*)\b/g)].map(([, kind = '']) => kind);

    expect(named.filter((kind) => !Object.hasOwn(KINDS, kind))).toEqual([]);
  });

  test('names columns of ours that exist', () => {
    const ofResults = Object.values(ROW_KINDS).flatMap(({ resultColumns }): readonly string[] => resultColumns);
    const ofOutputs = [...PLACE_COLUMNS, STATUS_COLUMN, ...REJECTION_COLUMNS, ...REASON_COLUMNS, TEXT_COLUMN];
    const known = new Set([...ofResults, ...ofOutputs, ...RECEIPT_COLUMNS].map((name) => name.toLowerCase()));
    const named = spans.flatMap((span) => span.match(/(?<![\w/<>.])_[a-zA-Z]\w*/g) ?? []);

    expect(named.filter((name) => !known.has(name.toLowerCase()))).toEqual([]);
  });
});

/** The kinds of the steps of a job, or of a part of one; it must be one that Volley takes. */
function stepsIn(yaml: string): string[] {
  const { steps, service = { sandbox: true } } = parse(yaml) as { steps?: object[]; service?: object };
  if (steps === undefined) return [];
  return parseJob(JSON.stringify({ name: 'example', ...parse(yaml), service }), `${ROOT}jobs/example.yaml`).steps.map(
    ({ kind }) => kind,
  );
}
