import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, volleyIn, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

type Files = Readonly<Record<string, string | Uint8Array>>;

const TEN = { 'people.csv': people(10) };

async function aJobOf(suppress: unknown, files: Files, step: object = {}): Promise<Workspace> {
  const workspace = await aWorkspace();
  for (const [name, content] of Object.entries(files)) workspace.write(name, content);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ suppress, ...step })] }));
  return workspace;
}

async function refused(workspace: Workspace) {
  const { error, exitCode } = readFailure(await workspace.volley('plan', 'job.yaml'));
  expect(exitCode).toBe(2);
  expect(workspace.requests()).toEqual([]);
  return error.problems;
}

describe.concurrent('opt-outs on standard input', () => {
  test.each([
    ['alone', '-', numbersOf(8, 3)],
    ['beside a file', ['stop.csv', '-'], numbersOf(7, 3)],
  ])('get no message: %s', async (_where, files, reached) => {
    const workspace = await aJobOf({ files }, { ...TEN, 'stop.csv': `mobile\n${numberOf(10)}\n` });
    const stdin = `mobile\n${numberOf(1)}\n${numberOf(2)}\n`;

    const { code, summary } = await volleyIn(workspace, { stdin }, 'run', 'job.yaml');

    expect(code).toBe(0);
    expect(await workspace.destinations()).toEqual(reached);
    expect(summary.steps[0]?.suppression?.at(-1)).toMatchObject({ file: 'standard input', read: 2, found: 2 });
  });

  test.each([
    ['preview', ['preview', 'job.yaml'], /standard input/],
    ['test', ['test', 'job.yaml', '--to', numberOf(9)], /standard input/],
  ])('are refused by name where they cannot be read: %s', async (_verb, args, message) => {
    const workspace = await aJobOf({ files: '-' }, TEN);
    const { code, stdout } = await volleyIn(workspace, { stdin: 'mobile\n' }, ...args);
    expect([code, stdout]).toEqual([2, expect.stringMatching(message)]);
    expect(workspace.requests()).toEqual([]);
  });

  test('are refused by name for a retry, whose list may be another by now', async () => {
    const workspace = await aJobOf({ files: '-' }, TEN);
    workspace.setFaults({ kind: 'reject-rows', rows: 1 });
    await volleyIn(workspace, { stdin: `mobile\n${numberOf(1)}\n` }, 'run', 'job.yaml');
    const { code, stdout } = await workspace.volley(
      ...['retry', workspace.runOf(workspace.plans()[0] ?? ''), '--only', 'rejected'],
    );
    expect([code, stdout]).toEqual([2, expect.stringContaining('came by standard input')]);
  });
});

describe.concurrent('lists of several kinds', () => {
  const files = {
    'people.csv': 'mobile,name\n+4915112345678,Ann\n+436641234567,Bea\n+41791234567,Cid\n+4915112345679,Dan\n',
    'de.csv': 'nummer\n0151 12345678\n',
    'at.csv': 'telefon;kundennummer\n0664 1234567;0151 12345679\n',
    'mixed.csv': 'tel;land\n079 123 45 67;Schweiz\n',
  };
  const suppress = [
    { files: 'de.csv', country: 'DE' },
    { files: 'at.csv', country: 'AT', column: 'telefon' },
    { files: 'mixed.csv', countryColumn: 'land' },
  ];

  test('have their own country, column of the country, and column: none of their numbers gets a message', async () => {
    const workspace = await aJobOf(suppress, files);
    const { code, summary } = await workspace.run();
    expect(code).toBe(0);
    expect(await workspace.destinations()).toEqual(['+4915112345679']);
    const figures = summary.steps[0]?.suppression?.map((list) => [
      list.file,
      list.columns,
      list.readAs,
      list.withoutPlus,
    ]);
    expect(figures).toEqual([
      ['de.csv', ['nummer'], 'DE', 1],
      ['at.csv', ['telefon'], 'AT', 1],
      ['mixed.csv', ['tel'], null, 0],
    ]);
    for (const list of summary.steps[0]?.suppression ?? [])
      expect(list).toMatchObject({ read: 1, found: 1, notFound: 0 });
  });
});

describe.concurrent('what a list did', () => {
  const abroad = 'mobile,name\n+4915112345678,Ann\n+4915112345679,Bea\n+436641234567,Cid\n';
  const stop = 'mobil;abgemeldet am\n+4915112345678;24.11.2026\n0664 1234567;23.11.2026\n0151 99999999;1.2.2026\n';
  const input = { input: { files: 'people.csv', country: 'DE' } };
  const FIGURES = {
    file: 'stop.csv',
    columns: ['mobil'],
    read: 3,
    found: 1,
    notFound: 2,
    withoutPlus: 2,
    readAs: 'DE',
    ambiguous: 2,
  };
  const LINE = 'stop.csv: 3 read in column mobil · 1 found among the recipients · 2 not · 2 without + read as DE';
  const WARNING = 'stop.csv: 2 numbers without + were read as DE, and the recipients are of several countries';

  test('is said by check, plan, the account, report.html and summary.json, with a warning where it may have missed people', async () => {
    const workspace = await aJobOf({ files: 'stop.csv' }, { 'people.csv': abroad, 'stop.csv': stop }, input);

    const checked = JSON.parse((await workspace.volley('check', 'job.yaml')).stdout);
    expect(checked.steps[0].suppression).toEqual([{ ...FIGURES, among: 'the recipients' }]);
    expect(checked.notices[0]).toContain(WARNING);
    const { stdout, stderr } = await workspace.volley('run', 'job.yaml', '--no-json');
    const account = stdout.replace(/\s+/g, ' ');
    expect(account).toContain(LINE);
    expect(account).toContain(`warning: ${WARNING}`);
    expect(stderr).toContain(WARNING);
    const directory = workspace.path(workspace.runOf(workspace.plans()[0] ?? ''));
    expect(JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8')).steps[0].suppression).toEqual([FIGURES]);
    const page = readFileSync(join(directory, 'report.html'), 'utf8');
    expect(page).toContain(LINE);
    expect(page).toContain(`Warning: ${WARNING}`);
  });
});

describe.concurrent('a list that cannot be trusted is refused', () => {
  const input = { input: { files: 'people.csv', country: 'DE' } };
  test.each(['24.11.2026', '2026-11-24 10:00'])('with a date where its numbers stand: %s', async (date) => {
    const list = `mobil;am\n+4915112345678;${date}\n${date};${date}\n`;
    const workspace = await aJobOf({ files: 'stop.csv' }, { ...TEN, 'stop.csv': list }, input);
    expect(await refused(workspace)).toMatchObject([
      {
        file: 'stop.csv',
        line: 3,
        message: `column "mobil" holds ${date}, which is not a number (a date), expected one`,
      },
    ]);
  });
});

describe.concurrent('a file of opt-outs is no audience', () => {
  test.each([
    ['it is the list itself, however short', people(1), people(1), 'it is the suppression list stop.csv'],
    [
      'nearly all of its numbers are on the lists',
      people(20),
      people(18),
      '18 of its 20 numbers are on the suppression lists',
    ],
  ])('%s: plan refuses it', async (_what, audience, list, message) => {
    const workspace = await aJobOf({ files: 'stop.csv' }, { 'people.csv': audience, 'stop.csv': list });
    expect((await refused(workspace))[0]).toMatchObject({
      file: 'people.csv',
      message: expect.stringContaining(message),
    });
    expect((await workspace.run()).code).toBe(2);
    expect(workspace.requests()).toEqual([]);
  });

  test.each([
    ['few people, all of whom opted out', people(5), people(6)],
    ['many who did not', people(20), people(17)],
  ])('a file of %s is one', async (_what, audience, list) => {
    const workspace = await aJobOf({ files: 'stop.csv' }, { 'people.csv': audience, 'stop.csv': list });
    expect((await workspace.run()).code).toBe(0);
  });
});

/** So large that a thread reads it. */
const NUMBERS = Array.from({ length: 400_000 }, (_, index) => `+65${91_000_000 + index}\n`).join('');

test.concurrent('a large suppression list without a header is refused, and the command ends', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.write('stop.csv', NUMBERS);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] }));

  const { code, stderr } = await workspace.finish(workspace.start(['plan', 'job.yaml']));

  expect(code).toBe(2);
  expect(stderr).toContain('stop.csv:1: the first line is a number, expected a header');
});
