import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { aWorkbook, rowsOf } from '../input/xlsx/a-workbook.js';
import { oneIn } from '../one-in.js';
import { aContactsStep, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aDiskOf, deathOf } from './a-mortal-command.js';
import { aJobFor, volleyIn, volleyLater, type Workspace } from './a-workspace.js';

/** A run of twenty people that is at its end. */
async function aFinishedRun(): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aJobFor(people(20));
  expect((await workspace.run()).code).toBe(0);
  return { workspace, run: workspace.firstRun() };
}

async function expectNothingNew(workspace: Workspace, job = 'job.yaml'): Promise<void> {
  expect((await workspace.told('run', job)).state, job).toBe('nothing-new');
}

describe.concurrent('what was sent is known', () => {
  test('after the journal of a finished run was deleted', async () => {
    const { workspace, run } = await aFinishedRun();
    unlinkSync(workspace.path(`${run}/journal.ndjson`));
    await expectNothingNew(workspace);
    for (const flags of [[], ['--adopt']]) {
      const { error } = await workspace.refused('retry', run, '--only', 'rejected', ...flags);
      expect([error.code, error.hint]).toEqual(['registry-mismatch', expect.not.stringContaining('--adopt')]);
      expect(error.problems).toMatchObject([{ message: expect.stringContaining('is gone') }]);
    }
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });

  test('by an old plan of --again: the first time has two names', async () => {
    const workspace = await aJobFor(people(20));
    const old = await workspace.plan('--again');
    expect((await workspace.run()).code).toBe(0);
    const error = await workspace.expectRefused(['apply', old], 2, 'plan-mismatch');
    expect(JSON.stringify(error)).toContain('was taken by run');
    expect(await workspace.destinations()).toEqual(numbersOf(20));
    expect((await workspace.run('--again')).code).toBe(0);
    expect(await workspace.destinations()).toHaveLength(40);
  });

  test('by whatever link the job is called; a file of a ConfigMap stays where it is shown', async () => {
    const { workspace } = await aFinishedRun();
    mkdirSync(workspace.path('links'));
    symlinkSync('../job.yaml', workspace.path('links/other.yaml'));
    symlinkSync(workspace.directory, workspace.path('links/here'));
    for (const link of ['links/other.yaml', 'links/here/job.yaml']) await expectNothingNew(workspace, link);
    // As Kubernetes shows it: job.yaml → ..data/job.yaml, ..data → ..2026_11_22.
    mkdirSync(workspace.path('config/..2026_11_22'), { recursive: true });
    renameSync(workspace.path('job.yaml'), workspace.path('config/..2026_11_22/job.yaml'));
    for (const name of ['people.csv', 'out']) renameSync(workspace.path(name), workspace.path(`config/${name}`));
    symlinkSync('..2026_11_22', workspace.path('config/..data'));
    symlinkSync('..data/job.yaml', workspace.path('config/job.yaml'));
    await expectNothingNew(workspace, 'config/job.yaml');
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });
});

describe.concurrent('a file that was saved anew', () => {
  const text = people(20);
  const asJson = text.replace(/^name,mobile\n/, '').replace(/^(.*),(.*)$/gm, '{"name":"$1","mobile":"$2"}');
  const SAVED: readonly (readonly [string, string, string | Buffer])[] = [
    ['with a byte order mark', 'people.csv', `\uFEFF${text}`],
    ['with CRLF', 'people.csv', text.replaceAll('\n', '\r\n')],
    ['with semicolons', 'people.csv', text.replaceAll(',', ';')],
    ['with tabs', 'people.csv', text.replaceAll(',', '\t')],
    ['with quotes', 'people.csv', text.replace(/[^,\n]+/g, '"$&"')],
    ['as UTF-16', 'people.csv', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['with a blank line', 'people.csv', text.replace('\n', '\n\n')],
    ['as NDJSON', 'people.ndjson', asJson],
    ['packed', 'people.csv.gz', gzipSync(text)],
  ];
  test.each(oneIn(3, SAVED))('%s is the same file', async (_how, name, content) => {
    const { workspace, run } = await aFinishedRun();
    rmSync(workspace.path('people.csv'));
    workspace.write(name, content);
    workspace.change({ steps: [anSmsStep({ input: { files: 'people.*' } })] });
    const reason = expect.stringContaining(`was already sent by run ${run.split('-').at(-1)}`);
    const told = { state: 'nothing-new', leftOut: [{ file: name, reason }] };
    expect(await workspace.told('run', 'job.yaml')).toMatchObject(told);
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });

  test('is the same file, also where it holds results that a step of another kind took', async () => {
    const { workspace, run } = await aFinishedRun();
    const results = workspace.read(`${run}/1-sms.results.csv`);
    workspace.write('in/a.csv', results);
    workspace.change({ name: 'chain', steps: [aContactsStep({ input: { files: 'in/*' } })] }, 'chain.yaml');
    expect((await workspace.volley('run', 'chain.yaml')).summary.balance).toMatchObject({ accepted: 20 });
    workspace.write('in/b.csv', results.replaceAll('\n', '\r\n'));
    workspace.write('in/c.csv', Buffer.from(`\uFEFF${results.replaceAll(',', ';')}`, 'utf16le'));
    await expectNothingNew(workspace, 'chain.yaml');
    expect(await workspace.client.entries('contacts')).toHaveLength(20);
  });

  const sheet = (ben: string) =>
    aWorkbook({
      rows: `${rowsOf(['name', 'mobile', 'note'], ['Ann', numberOf(1), 'x'])}<row><c t="str"><v>Ben</v></c><c t="str"><v>${numberOf(2)}</v></c>${ben}</row>`,
    });
  const FIXED: readonly (readonly [string, string, string | Buffer, string | Buffer])[] = [
    ['had a field too many', 'people.csv', `${people(2)},x\n`.replace('\n,', ','), people(2)],
    [
      'had a field too few',
      'people.csv',
      `mobile,name\n${numberOf(1)},Ann\n${numberOf(2)}\n`,
      `mobile,name\n${numberOf(1)},Ann\n${numberOf(2)},\n`,
    ],
    [
      'had a formula without a value, which is blank',
      'people.xlsx',
      sheet('<c><f>""</f></c>'),
      sheet('<c t="str"><f>""</f><v></v></c>'),
    ],
  ];
  test.each(FIXED)('with a row fixed that %s is another file: the row is sent', async (_how, name, faulty, fixed) => {
    const workspace = await aJobFor('');
    workspace.write(name, faulty);
    const template = { source: 'ACME', text: "Hi {{ name | default: 'there' }}" };
    workspace.change({ steps: [anSmsStep({ input: { files: name }, template })], sameText: 'skip' });
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1, rejected: 1 });
    workspace.write(name, fixed);
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1, skipped: 1 });
    expect(await workspace.destinations()).toEqual(numbersOf(2));
  });
});

const giveAt = (workspace: Workspace, atMs: number, ...args: string[]) =>
  volleyLater(workspace, atMs - Date.now(), ...args);
const runAt = (workspace: Workspace, atMs: number) => giveAt(workspace, atMs, 'run', 'job.yaml');

const todayAt = (time: string) => new Date(`${new Date().toDateString()} ${time}`).getTime();

test.each([
  ['that goes on behind midnight sends the day on which it began, and no other', '23:50', 20, [30, 60]],
  ['that a person resumes in the afternoon sends the day on which it began, and no other', '20:00', 18 * 60, [30, 60]],
  ['that began by a clock that was ahead, and was set right, sends its day and no other', '00:30', -110, [30, 30]],
  ['of yesterday that is resumed sends what was left of it, then the new day', '09:30', 24 * 60, [60, 60]],
])('a run of a job of every day %s', async (_what, begins, minutes, sent) => {
  const workspace = await aJobFor(people(30), { repeat: 'per-day' }, { kind: 'status-401', area: 'sms', nth: 2 });
  const begunAt = todayAt(begins);
  expect((await runAt(workspace, begunAt)).code).toBe(4);

  const counts = [];
  for (const later of [minutes, minutes + 9 * 60]) {
    expect((await runAt(workspace, begunAt + later * 60_000)).code).toBe(0);
    counts.push((await workspace.destinations()).length);
  }
  expect(counts).toEqual(sent);
});

test.each([
  ['within the hour, as a scheduler that was refused or killed does, sends nothing', '23:50', 20, 2],
  ['hours later, where its report is not written yet, sends nothing', '22:00', 180, 2],
  ['before it, by a clock that was set right since, sends nothing', '00:30', -105, 2],
  ['hours later sends the new day', '22:00', 180, 4],
])(
  'a job of every day that is started behind midnight, when its run has ended, %s',
  async (when, begins, minutes, sent) => {
    const workspace = await aJobFor(people(2), { repeat: 'per-day' });
    const begunAt = todayAt(begins);
    expect((await runAt(workspace, begunAt)).code).toBe(0);
    if (when.includes('report')) rmSync(workspace.path(`out/sale/${workspace.runs()[0]}/summary.json`));
    const { code, stderr } = await runAt(workspace, begunAt + minutes * 60_000);
    expect(code).toBe(0);
    // Else nobody knows why nothing was sent.
    expect(/this start is of \d{4}-\d\d-\d\d: run \w+ of that day/.test(stderr)).toBe(sent === 2);
    expect(await workspace.destinations()).toHaveLength(sent);
  },
);

test('a job of every day whose run is brought to its end hours later sends nothing with the start right behind that', async () => {
  const workspace = await aJobFor(people(2), { repeat: 'per-day' });
  const begunAt = todayAt('22:00');
  const { files } = aDiskOf(async (name, act) => {
    if (name.includes('summary.json')) throw deathOf(name);
    return act();
  });
  const clock = { ...systemClock, now: () => begunAt };
  expect((await volleyIn(workspace, { runtime: { clock, files } }, 'run', 'job.yaml')).code).not.toBe(0);
  for (const minutes of [190, 200]) expect((await runAt(workspace, begunAt + minutes * 60_000)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(2));
});

test('a plan of a job of every day that is made behind midnight has nothing that a run of that night has still to send', async () => {
  const workspace = await aJobFor(people(30), { repeat: 'per-day' }, { kind: 'status-401', area: 'sms', nth: 2 });
  const begunAt = todayAt('23:50');
  expect((await runAt(workspace, begunAt)).code).toBe(4);
  const states = [];
  for (const hours of [0.4, 9, 24]) {
    const { stdout, stderr } = await giveAt(workspace, begunAt + hours * 3_600_000, 'plan', 'job.yaml');
    states.push([JSON.parse(stdout).state, /this start is of .* is not finished/.test(stderr)]);
  }
  expect(states).toEqual([
    ['nothing-new', true],
    ['nothing-new', true],
    ['planned', false],
  ]);
});

test('a job that is of every day from now on holds those whom it wrote to on the same day', async () => {
  const workspace = await aJobFor(people(2));
  const noon = todayAt('12:00');
  expect((await runAt(workspace, noon)).code).toBe(0);
  workspace.change({ repeat: 'per-day' });
  const codes = [];
  for (const hours of [1, 24]) codes.push((await runAt(workspace, noon + hours * 3_600_000)).code);
  expect(codes).toEqual([1, 0]);
  expect(await workspace.destinations()).toHaveLength(4);
});

test('a job of every day that is started late, behind midnight, warns the night after that files are of the same day', async () => {
  const workspace = await aJobFor(people(2), { repeat: 'per-day' });
  const late = todayAt('00:20');
  const said = [];
  for (const hours of [0, 11, 23.4]) said.push((await runAt(workspace, late + hours * 3_600_000)).stderr);
  const warned = /run \w+ of \d{4}-\d\d-\d\d, which began on .*, has sent files that this start omits/;
  expect(said.map((text) => warned.test(text))).toEqual([false, false, true]);
  expect(await workspace.destinations()).toHaveLength(2);
});

test.each([
  ['of the same night needs no other file', { required: true }, 10, 0],
  ['of the same night needs no newer file', { newerThan: '12h' }, 14, 0],
  ['of the night before does not stand for the export that did not come', { required: true }, 24, 2],
  ['of the night before does not stand for a new export', { newerThan: '12h' }, 24, 2],
])('a run %s, where the command that finishes it asks for one', async (_what, keys, hours, code) => {
  const workspace = await aJobFor(people(30), {}, { kind: 'status-401', area: 'sms', nth: 2 });
  workspace.change({ steps: [anSmsStep({ input: { files: 'people.csv', ...keys } })] });
  const begunAt = todayAt('22:00');
  utimesSync(workspace.path('people.csv'), begunAt / 1000, begunAt / 1000);
  expect((await runAt(workspace, begunAt)).code).toBe(4);
  const ended = await runAt(workspace, begunAt + hours * 3_600_000);
  expect([ended.code, /no file is new|its newest file/.test(ended.stderr)]).toEqual([code, code === 2]);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test.each([
  ['as its run ends is told what took the export', 5, [0, 0]],
  ['within the hour misses the export of that hour', 30, [2, 2]],
  ['the next night, behind a clock that was ahead, misses that of the night', -24 * 60, [2, 2]],
])('a job that requires an export, and is started once more %s', async (_what, minutes, codes) => {
  const workspace = await aJobFor(people(2));
  const moved = { files: '*.csv', required: true, newerThan: '1m', whenDone: { moveTo: 'sent' } };
  workspace.change({ steps: [anSmsStep({ input: moved })] });
  const begunAt = todayAt('12:00');
  utimesSync(workspace.path('people.csv'), begunAt / 1000, begunAt / 1000);
  expect((await runAt(workspace, begunAt)).code).toBe(0);
  const ends = [];
  for (const verb of ['plan', 'run']) ends.push(await giveAt(workspace, begunAt + minutes * 60_000, verb, 'job.yaml'));
  const took = /run \w+, which has just ended, took what came/;
  expect(ends.map(({ code, stderr }) => [code, took.test(stderr)])).toEqual(codes.map((code) => [code, code === 0]));
});

test('a job that sends with each start says so where one has finished the run of another instead', async () => {
  const workspace = await aJobFor(people(30), { repeat: 'always' }, { kind: 'status-401', area: 'sms', nth: 2 });
  expect((await workspace.run()).code).toBe(4);
  expect((await workspace.run()).stderr).toMatch(/this start has finished run \w+, and sends the files no second time/);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('a job of every day sends its days, though a run before was dated into the future by a clock that was ahead', async () => {
  const workspace = await aJobFor(people(2), { repeat: 'per-day' });
  const today = todayAt('22:00');
  const sent = [];
  for (const days of [9, 0, 1]) {
    expect((await runAt(workspace, today + days * 24 * 3_600_000)).code).toBe(0);
    sent.push((await workspace.destinations()).length);
  }
  expect(sent).toEqual([2, 4, 6]);
});

test('a job of every day whose export comes once more, with a row added, sends to those who had nothing that day; the next day to all', async () => {
  const workspace = await aJobFor(people(12), { repeat: 'per-day' });
  const begunAt = todayAt('20:00');
  const ends = [];
  for (const [minutes, rows] of [
    [0, 12],
    [30, 13],
    [60, 13],
  ] as const) {
    workspace.write('people.csv', people(rows));
    const { code } = await runAt(workspace, begunAt + minutes * 60_000);
    ends.push([code, (await workspace.destinations()).length]);
  }
  const { code, summary } = await runAt(workspace, begunAt + 24 * 3_600_000);
  expect([...ends, [code, (await workspace.destinations()).length]]).toEqual([
    [0, 12],
    [1, 13],
    [0, 13],
    [0, 26],
  ]);
  expect(summary.steps[0]?.had).toBeUndefined();
  // What the directory of the job knew is gone; whom it wrote to that day is not.
  rmSync(workspace.path('out/sale'), { recursive: true });
  const { balance } = (await runAt(workspace, begunAt + 25 * 3_600_000)).summary;
  expect(balance).toMatchObject({ accepted: 0, skipped: 13 });
});

test('a job of every day that takes new files each hour of the night sends the new day soon after midnight', async () => {
  const steps = [anSmsStep({ input: { files: 'inbox/*.csv' } })];
  const workspace = await aJobFor(people(1), { repeat: 'per-day', steps });
  mkdirSync(workspace.path('inbox'));
  const begunAt = todayAt('23:30');
  const sent = [];
  for (const hour of [0, 1, 2, 3]) {
    workspace.write(`inbox/${hour}.csv`, people(1, hour + 1));
    expect((await runAt(workspace, begunAt + hour * 59 * 60_000)).code).toBe(0);
    sent.push((await workspace.destinations()).length);
  }
  // The fourth start is the first of the new day.
  expect(sent).toEqual([1, 2, 3, 7]);
});

test('a job of every day at 19:00 that began at 23:48 and stopped is resumed; with that the new day is sent where it is due', async () => {
  for (const [hours, sent] of Object.entries({ 65: 90, 72: 120 })) {
    const workspace = await aJobFor(people(30), { repeat: 'per-day' }, { kind: 'status-401', area: 'sms', nth: 8 });
    for (const late of [0, 24, 52.8]) await runAt(workspace, todayAt('19:00') + late * 3_600_000);
    expect((await runAt(workspace, todayAt('19:00') + Number(hours) * 3_600_000)).code).toBe(0);
    expect(await workspace.destinations()).toHaveLength(sent);
  }
});
