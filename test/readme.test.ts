import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { jobJsonSchema } from '../src/job/json-schema.js';
import { loadJob } from '../src/job/load.js';
import { contactCodes } from '../src/normalize/contact-fields.js';
import { numberCodes } from '../src/normalize/number-codes.js';
import { EXIT } from '../src/report/exit-code.js';
import { OUTPUTS } from '../src/report/rows.js';
import type { Summary } from '../src/report/summary.js';
import { ceilings, defaultLimits } from '../src/throttle/ceilings.js';
import { COMMAND } from './e2e/command.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const README = readFileSync(`${ROOT}README.md`, 'utf8');
const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

const blocks = [...README.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
  language,
  text: text!,
}));
const prose = README.replace(/^```.*?^```$/gms, '');
const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
/** Every row of a table, as its cells; a bar behind a backslash belongs to its cell. */
const rows = readRows(prose);
const sections = new Map(prose.split(/^## /m).map((text) => [text.slice(0, text.indexOf('\n')), text]));
const rowsUnder = (heading: string) => readRows(sections.get(heading) ?? '');

test('README begins with the two commands that need nothing but Node, one line each', () => {
  const [first, second] = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);

  expect([first, second]).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
  expect(README.indexOf('npm ci && npm start')).toBeLessThan(README.indexOf('\n## '));
});

test('README names every verb of the command, and no other', () => {
  const help = spawnSync(process.execPath, [COMMAND, '--help'], { encoding: 'utf8' }).stdout;
  const verbs = [...help.matchAll(/^ {2}volley (\w+)/gm)].map(([, verb]) => verb);
  const named = spans.flatMap((span) => /^(?:npx )?volley ([a-z]+)/.exec(span)?.[1] ?? []);

  expect(verbs).toContain('run');
  expect([...new Set(named)].sort()).toEqual(verbs.sort());
});

test('README names every key of a job file, with its default', () => {
  const words = new Set(spans.flatMap((span) => span.split(/[^\w$]+/)));
  const lacking = walkKeys(jobJsonSchema()).filter(({ key, value }) => {
    if (value === undefined) return !words.has(key);
    const own = rows.filter(([names = '']) => listNames(names).some((name) => name.split('.').at(-1) === key));
    return !own.some(([, shown = '']) => listNames(shown).includes(value));
  });

  expect(lacking).toEqual([]);
});

test('README gives the limits that the code has', () => {
  const show = (limit: number | undefined, otherwise: string) => limit?.toLocaleString('en-US') ?? otherwise;
  const names = ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const;

  const told = rowsUnder('Limits').filter(([name = '']) => name.startsWith('`'));

  expect(told.map((cells) => cells.slice(0, 5))).toEqual(
    names.map((name) => [
      `\`${name}\``,
      show(defaultLimits.sms[name], 'none'),
      show(ceilings.sms[name], '–'),
      show(defaultLimits.contacts[name], '–'),
      show(ceilings.contacts[name], '–'),
    ]),
  );
});

test('README lists every code that a row can be rejected, skipped or held with, and none that there is not', () => {
  const written = findWrittenCodes();
  const known = new Set([...Object.keys(numberCodes), ...Object.keys(contactCodes), ...written]);
  const section = sections.get('Rejection codes') ?? '';
  const listed = rowsUnder('Rejection codes').flatMap(([names = '']) => listNames(names));

  // The search in the sources is a search in text: these show that it still finds what each folder has.
  expect(written).toEqual(expect.arrayContaining(['too-few-fields', 'bad-json', 'missing-value', 'text-too-long']));
  expect(written).toEqual(
    expect.arrayContaining(['duplicate', 'suppressed', 'no-answer', 'run-ended', 'not-accounted-for']),
  );
  expect([...known].filter((code) => !section.includes(`\`${code}\``))).toEqual([]);
  expect(listed.filter((code) => /^[a-z0-9-]+$/.test(code) && !known.has(code))).toEqual(['1002']);
});

test('README explains every exit code', () => {
  const told = rowsUnder('Guards, failOn and exit codes').flatMap(([code = '']) =>
    /^\d+$/.test(code) ? [Number(code)] : [],
  );

  expect(told).toEqual(Object.values(EXIT).sort((a, b) => a - b));
});

test('README names every output of a step', () => {
  const files = rowsUnder('Outputs').map(([file]) => file);

  expect(files).toEqual(expect.arrayContaining(OUTPUTS.map((output) => `\`<n>-<kind>.${output}.csv\``)));
});

describe('README on package.json', () => {
  const dependencies: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies };
  const reasons = rowsUnder('Why each dependency').filter(([name]) => name !== 'package' && !/^-+$/.test(name!));

  test('gives a reason for every dependency, and for no other', () => {
    expect(reasons.flatMap(([names = '']) => names.split(', ')).sort()).toEqual(Object.keys(dependencies).sort());
  });

  test('says the version of each that is pinned, and why', () => {
    const pinned = Object.entries(dependencies).filter(([, version]) => /^\d/.test(version));
    const told = reasons.flatMap(([name, reason = '']) => {
      const version = /\*\*([\d.]+)\*\*: \w/.exec(reason)?.[1];
      return version === undefined ? [] : [[name, version]];
    });

    expect(told.sort()).toEqual(pinned.sort());
  });

  test('names every script that a person gives', () => {
    const scripts = Object.keys(manifest.scripts).filter((name) => !name.startsWith('pre'));
    const told = rowsUnder('For developers').flatMap(([names = '']) => listNames(names));

    expect(told.map((name) => name.replace(/^npm (run )?/, '')).sort()).toEqual(scripts.sort());
  });
});

describe('the first job of README', () => {
  const yaml = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text);
  const [job, mendedInput, realService] = yaml as [string, string, string];
  const people = blocks.find(({ language }) => language === 'csv')!.text;

  test('ends as README says: a rejected row, and once it is mended, that row alone', () => {
    const path = useDirectory({ 'first.yaml': job, 'people.csv': people });
    const run = () => volley('run', path('first.yaml'), '--json');

    const first = run();
    const rejections = readFileSync(join(first.summary.directory, '1-sms.rejections.csv'), 'utf8');
    writeFileSync(path('mended.csv'), rejections.replace('6.59123E+09', '98765432'));
    writeFileSync(path('first.yaml'), job.replace(/^ +input:.*\n/m, mendedInput));
    const second = run();

    expect([first.code, second.code]).toEqual([EXIT.rejected, EXIT.ok]);
    expect(first.summary.balance).toMatchObject({ read: 4, accepted: 3, rejected: 1 });
    expect(rejections).toContain('A spreadsheet shortened this number to 6.59123E+09, and its last digits are lost');
    expect(second.summary.balance).toMatchObject({ read: 1, accepted: 1 });
  });

  test('is a job for the real service with the lines that README gives', async () => {
    const path = useDirectory({ 'first.yaml': `${realService}${job.slice(job.indexOf('steps:'))}` });

    const { service } = await loadJob(path('first.yaml'));

    expect(service).toMatchObject({ sandbox: false, account: 'acme', subAccountId: 'acme_hq' });
  });
});

test('links of README lead to files that are there', () => {
  const links = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!);
  const relative = links.filter((target) => !/^https?:/.test(target));

  expect(relative.length).toBeGreaterThan(10);
  expect(relative.filter((target) => !existsSync(`${ROOT}${target}`))).toEqual([]);
});

test('names of files that README puts in code are there', () => {
  const paths = spans.filter((span) => /^(src|test|jobs|samples)\/[\w./-]+$/.test(span));

  expect(paths.length).toBeGreaterThan(3);
  expect(paths.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});

/** A directory with these files, gone when the test is over; gives the path of a file in it. */
function useDirectory(files: Readonly<Record<string, string>>): (name: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'volley-readme-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return (name) => join(directory, name);
}

/** The built command with its exit code, and what it printed as JSON. */
function volley(...args: string[]): { code: number | null; summary: Summary } {
  const { status, stdout } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8' });
  return { code: status, summary: JSON.parse(stdout) };
}

function readRows(text: string): string[][] {
  return [...text.matchAll(/^\|(.*)\|$/gm)].map(([, row]) => row!.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

function listNames(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
}

interface SchemaKey {
  readonly key: string;
  /** The default as text, where it is a plain value. */
  readonly value: string | undefined;
}

/** Every key that the schema has, at whatever depth. */
function walkKeys(node: unknown): SchemaKey[] {
  if (typeof node !== 'object' || node === null) return [];
  const properties: Record<string, unknown> = Reflect.get(node, 'properties') ?? {};
  const own = Object.entries(properties).map(([key, schema]) => ({ key, value: readDefault(schema) }));
  return [...own, ...Object.values(node).flatMap(walkKeys)];
}

function readDefault(schema: unknown): string | undefined {
  const value: unknown = Reflect.get(Object(schema), 'default');
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}

/** Codes that the sources write where they refuse a row, skip it or hold it. */
function findWrittenCodes(): string[] {
  const files = ['read', 'normalize', 'template', 'plan', 'steps', 'run'].flatMap((folder) =>
    readdirSync(`${ROOT}src/${folder}`).map((name) => `${ROOT}src/${folder}/${name}`),
  );
  const CODE = /(?:\b(?:reject|refuse|refuseRow|fail|inDoubt)\(\s*|\bcode: )'([a-z0-9-]+)'/g;
  return [...new Set(files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(CODE)].map(([, code]) => code!)))];
}
