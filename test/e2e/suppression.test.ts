import { describe, expect, test } from 'vitest';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, volleyIn, type Workspace } from './a-workspace.js';

const numbersIn = (...persons: number[]) => `mobile\n${persons.map((person) => `${numberOf(person)}\n`).join('')}`;

/** A job with these lists, which are files beside it. */
async function aJobWith(suppress: unknown, files: Readonly<Record<string, string>> = {}, step: object = {}) {
  const workspace = await aJobFor(people(10), { steps: [anSmsStep({ suppress, ...step })] });
  for (const [name, content] of Object.entries(files)) workspace.write(name, content);
  return workspace;
}

async function refused(workspace: Workspace) {
  const { error, exitCode } = await workspace.refused('plan', 'job.yaml');
  expect([exitCode, workspace.requests()]).toEqual([2, []]);
  return error.problems;
}

describe.concurrent('opt-outs on standard input', () => {
  test.each([
    ['alone', '-', numbersOf(8, 3)],
    ['beside a file', ['stop.csv', '-'], numbersOf(7, 3)],
  ])('get no message: %s', async (_where, files, reached) => {
    const workspace = await aJobWith({ files }, { 'stop.csv': numbersIn(10) });

    const { code, summary } = await volleyIn(workspace, { stdin: numbersIn(1, 2) }, 'run', 'job.yaml');

    expect([code, await workspace.destinations()]).toEqual([0, reached]);
    expect(summary.steps[0]?.suppression?.at(-1)).toMatchObject({ file: 'standard input', read: 2, found: 2 });
  });

  test.each([
    ['preview', ['preview', 'job.yaml']],
    ['test', ['test', 'job.yaml', '--to', numberOf(9)]],
  ])('are refused by name where they cannot be read: %s', async (_verb, args) => {
    const workspace = await aJobWith({ files: '-' });
    const { code, stdout } = await volleyIn(workspace, { stdin: 'mobile\n' }, ...args);
    expect([code, stdout]).toEqual([2, expect.stringMatching(/standard input/)]);
    expect(workspace.requests()).toEqual([]);
  });

  test('are refused by name for a retry, whose list may be another by now', async () => {
    const workspace = await aJobWith({ files: '-' });
    workspace.setFaults({ kind: 'reject-rows', rows: 1 });
    await volleyIn(workspace, { stdin: numbersIn(1) }, 'run', 'job.yaml');
    const retry = ['retry', workspace.firstRun(), '--only', 'rejected'];
    expect(JSON.stringify(await workspace.expectRefused(retry, 2, 'bad-input'))).toContain('came by standard input');
  });
});

test('lists of several kinds have their own country, column of the country, and column: none of their numbers gets a message', async () => {
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
  const workspace = await aJobWith(suppress, files);
  const { code, summary } = await workspace.run();
  expect([code, await workspace.destinations()]).toEqual([0, ['+4915112345679']]);
  const all = { read: 1, found: 1, notFound: 0 };
  expect(summary.steps[0]?.suppression).toMatchObject([
    { file: 'de.csv', columns: ['nummer'], readAs: 'DE', withoutPlus: 1, ...all },
    { file: 'at.csv', columns: ['telefon'], readAs: 'AT', withoutPlus: 1, ...all },
    { file: 'mixed.csv', columns: ['tel'], readAs: null, withoutPlus: 0, ...all },
  ]);
});

const IN_GERMANY = { input: { files: 'people.csv', country: 'DE' } };

test('what a list did is said by check, plan, the account, report.html and summary.json, with a warning where it may have missed people', async () => {
  const figures = {
    ...{ file: 'stop.csv', columns: ['mobil'], read: 3, found: 1, notFound: 2 },
    ...{ withoutPlus: 2, readAs: 'DE', ambiguous: 2 },
  };
  const line = 'stop.csv: 3 read in column mobil · 1 found among the recipients · 2 not · 2 without + read as DE';
  const warning = 'stop.csv: 2 numbers without + were read as DE, and the recipients are of several countries';
  const files = {
    'people.csv': 'mobile,name\n+4915112345678,Ann\n+4915112345679,Bea\n+436641234567,Cid\n',
    'stop.csv': 'mobil;abgemeldet am\n+4915112345678;24.11.2026\n0664 1234567;23.11.2026\n0151 99999999;1.2.2026\n',
  };
  const workspace = await aJobWith({ files: 'stop.csv' }, files, IN_GERMANY);

  const checked = await workspace.told('check', 'job.yaml');
  expect(checked.steps[0].suppression).toEqual([{ ...figures, among: 'the recipients' }]);
  expect(checked.notices[0]).toContain(warning);
  const { stdout, stderr } = await workspace.volley('run', 'job.yaml', '--no-json');
  const account = stdout.replace(/\s+/g, ' ');
  for (const said of [line, `warning: ${warning}`]) expect(account).toContain(said);
  expect(stderr).toContain(warning);
  const read = (name: string) => workspace.read(`${workspace.firstRun()}/${name}`);
  expect(JSON.parse(read('summary.json')).steps[0].suppression).toEqual([figures]);
  for (const said of [line, `Warning: ${warning}`]) expect(read('report.html')).toContain(said);
});

const ITSELF = 'it is the suppression list stop.csv';
const NEARLY_ALL = '18 of its 20 numbers are on the suppression lists';

test.each<[string, number, number, string | undefined]>([
  ['it is the list itself, however short', 1, 1, ITSELF],
  ['nearly all of its numbers are on the lists', 20, 18, NEARLY_ALL],
  ['few people, all of whom opted out, are one', 5, 6, undefined],
  ['many who did not are one', 20, 17, undefined],
])('a file of opt-outs is no audience: %s', async (_what, audience, listed, why) => {
  const files = { 'people.csv': people(audience), 'stop.csv': people(listed) };
  const workspace = await aJobWith({ files: 'stop.csv' }, files);
  if (why !== undefined)
    expect(await refused(workspace)).toMatchObject([{ file: 'people.csv', message: expect.stringContaining(why) }]);
  expect((await workspace.run()).code).toBe(why === undefined ? 0 : 2);
  expect(workspace.requests()).toHaveLength(why === undefined && audience > listed ? 1 : 0);
});

test('a large suppression list without a header is refused, and the command ends', async () => {
  // So large that a thread reads it.
  const list = Array.from({ length: 400_000 }, (_, index) => `+65${91_000_000 + index}\n`).join('');
  const workspace = await aJobWith({ files: 'stop.csv' }, { 'stop.csv': list });

  const { code, stderr } = await workspace.finish(workspace.start(['plan', 'job.yaml']));

  const expected = [2, expect.stringContaining('stop.csv:1: the first line is a number, expected a header')];
  expect([code, stderr]).toEqual(expected);
});
