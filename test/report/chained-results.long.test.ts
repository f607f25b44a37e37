import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RowKind as Kind, ROW_KINDS } from '../../src/domain/areas.js';
import { UserError } from '../../src/domain/errors.js';
import type { Summary } from '../../src/report/summary.js';
import { expectEveryRowOnce, type OutputName, readOutput } from '../e2e/account.js';
import { type Ended, useWholeJobs } from '../hostile/a-whole-job.js';
import { EXAMPLES } from '../kinds/examples.js';
import { oneIn } from '../one-in.js';

type Format = 'csv' | 'ndjson';

const KINDS = Object.keys(ROW_KINDS) as Kind[];
const columnsOf = (kind: Kind): readonly string[] => ROW_KINDS[kind].resultColumns;
const FORMATS: readonly Format[] = ['csv', 'ndjson'];
/** The kind whose results it needs: only those of a start hold a session to be checked. */
const isAfter = (kind: Kind, from: Kind) => (EXAMPLES[kind].comesAfter ?? from) === from;
const PAIRS = KINDS.flatMap((from) =>
  KINDS.filter((to) => to !== from && isAfter(to, from)).flatMap((to) =>
    FORMATS.map((format) => ({ from, to, format })),
  ),
);

/** As a person might name them, close to names of Volley. */
const PEOPLE = `Destination,description,queue\n+6591234501,"a, b",101\n+6591234502,=1+1,102\n`;

const runWhole = useWholeJobs();

test.each(oneIn(4, PAIRS))(
  'results as input of a step of another kind $from → $to, as $format',
  async ({ from, to, format }) => {
    // The service forgets what it did with each job that needs nothing of the one before.
    const isNext = EXAMPLES[to].comesAfter !== undefined;
    const { text, kinds } = await (isNext ? makeResults(from, format) : resultsOf(from, format));
    const ended = await runStep(to, { format, files: { [`results.${format}`]: text } });

    const { summary } = ended;
    if (summary === undefined) {
      // A check has a start behind it, of which its rows went through already.
      const expected = [expect.arrayContaining([to]), expect.stringContaining('results of a step of the same kind')];
      expect([kinds, (ended.error as UserError).problems[0]?.message]).toEqual(expected);
      return;
    }
    expect(kinds).not.toContain(to);
    expectEveryRowOnce(summary);
    expect(summary.balance).toMatchObject({ read: 2, accepted: 2 });
    const outputs = Object.entries(summary.steps[0]?.files ?? {});
    for (const [name, file] of outputs) expectNamesOnce(readFileSync(join(summary.directory, file), 'utf8'), name);
    const rows = readOutput(summary, 1, 'results');
    const columns = Object.keys(rows[0] ?? {});
    expect(columns).toEqual(
      expect.arrayContaining(['Destination', 'description', 'queue', ...ROW_KINDS[to].resultColumns]),
    );
    expect(rows.map((row) => [row.Destination, row.description])).toEqual([
      ['+6591234501', 'a, b'],
      ['+6591234502', '=1+1'],
    ]);
    // What the step before said and this one does not say itself is still there.
    const carried = columnsOf(from).filter((name) => !columnsOf(to).includes(name));
    expect(columns).toEqual(expect.arrayContaining(carried));
    const results = readResults(summary);
    for (const kind of [...kinds, to]) await expectRefused(kind, { format, text: results });
  },
);

/** Results by kind and format, made once. */
const made = new Map<string, Promise<{ text: string; kinds: readonly Kind[] }>>();

function resultsOf(kind: Kind, format: Format) {
  const key = `${kind} ${format}`;
  const known = made.get(key) ?? makeResults(kind, format);
  made.set(key, known);
  return known;
}

async function makeResults(kind: Kind, format: Format): Promise<{ text: string; kinds: readonly Kind[] }> {
  const { comesAfter } = EXAMPLES[kind];
  const input = comesAfter === undefined ? { text: PEOPLE, kinds: [] } : await makeResults(comesAfter, format);
  const name = comesAfter === undefined ? 'people.csv' : `input.${format}`;
  const { summary, error } = await runStep(kind, { format, files: { [name]: input.text } });
  if (summary === undefined) throw error;
  expect(summary.balance).toMatchObject({ accepted: 2 });
  return { text: readResults(summary), kinds: [...input.kinds, kind] };
}

function runStep(kind: Kind, { format, files }: { format: Format; files: Record<string, string> }): Promise<Ended> {
  const more = { output: { directory: 'out', format } };
  const steps = [aStep(kind, Object.keys(files)[0] ?? '')];
  return runWhole({ files, steps, more, keepsService: EXAMPLES[kind].comesAfter !== undefined });
}

const MORE: Partial<Record<Kind, object>> = {
  contacts: { customAttributes: 'rest' },
  conversations: { channel: 'sandbox-channel', queueColumn: 'queue' },
};

function aStep(kind: Kind, file: string): object {
  const columns = { name: 'description', mobile: 'destination', session: '_sessionId', code: undefined };
  return { kind, input: { files: file }, ...EXAMPLES[kind].step(columns), ...MORE[kind] };
}

async function expectRefused(kind: Kind, { format, text }: { format: Format; text: string }): Promise<void> {
  const files = { [`again.${format}`]: text };
  const { error, taken } = await runWhole({ files, steps: [aStep(kind, `again.${format}`)] });
  expect(error).toBeInstanceOf(UserError);
  const messages = (error as UserError).problems.map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('it holds results'));
  expect(taken).toBe(0);
}

function readResults(summary: Summary): string {
  const file = summary.steps[0]?.files['results' satisfies OutputName] ?? '';
  return readFileSync(join(summary.directory, file), 'utf8');
}

/** No header, and no object, has a name twice. */
function expectNamesOnce(text: string, output: string): void {
  const [first = ''] = text.split('\n');
  if (first === '') return;
  const names = first.startsWith('{') ? [...first.matchAll(/"([^"]*)":/g)].map(([, name]) => name) : first.split(',');
  expect(names.length, output).toBe(new Set(names).size);
}
