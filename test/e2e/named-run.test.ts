import { cpSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { people } from './a-job.js';
import { aJobFor, volleyLater } from './a-workspace.js';
import { aRunThatEndedEarly } from './some-runs.js';

/** A job with a finished run, then a stopped one with rows in doubt, then a plan that was not applied. */
async function aJobWithRuns(apartMs = 60_000) {
  const workspace = await aJobFor(people(20));
  const names: string[] = [];
  const note = () => {
    const [name = ''] = workspace.plans().filter((each) => !names.includes(each));
    names.push(name);
    // What decides is when it began, and not the order of the names or of the files, as a copy without times has it; of what was only planned, the file.
    const at = new Date(Date.now() - names.length * apartMs + (names.length === 3 ? 10 * apartMs : 0));
    utimesSync(workspace.path(`${workspace.runOf(name)}/plan.json`), at, at);
    return name;
  };
  expect((await workspace.run()).code).toBe(0);
  const first = note();
  workspace.write('people.csv', people(20, 100));
  workspace.setFaults({ kind: 'reset-after', nth: 1 });
  expect((await workspace.run()).code).toBe(3);
  const second = note();
  workspace.write('people.csv', people(20, 200));
  await workspace.plan();
  return { workspace, first, second, planned: note() };
}

describe('a verb on a run takes a job file, and the directory of a job', async () => {
  const { workspace, first, second, planned } = await aJobWithRuns();

  test.each(['job.yaml', 'out/sale', './out/sale/'])('status %s shows the newest run, begun or not', async (named) => {
    expect((await workspace.told('status', named)).plan).toBe(planned);
  });

  test.each(['job.yaml', 'out/sale'])('report, retry and settle %s take the newest that was begun', async (named) => {
    expect((await workspace.told('report', named)).plan).toBe(second);
    expect((await workspace.retry(named, 'rejected')).retryOf).toBe(second);
    const nothing = await workspace.volley('retry', named, '--only', 'not-sent', '--no-json');
    expect(/newest run of the job\..* runs job\.yaml\n/.test(nothing.stdout)).toBe(named === 'job.yaml');
    const refused = await workspace.refused('settle', named, '--assume', 'sent', '--confirm', '3');
    expect(refused.error.message).toMatch(/\b10\b/);
  });

  test('a run directory is that run, and so is its plan id beside it, and its plan.json', async () => {
    expect((await workspace.told('status', `out/sale/${first}`)).plan).toBe(first);
    expect((await workspace.told('status', `${workspace.runOf(first)}/plan.json`)).plan).toBe(first);
    expect((await workspace.told('report', workspace.runOf(first))).plan).toBe(first);
  });

  test('apply takes a run directory alone, and says what to do with a job file', async () => {
    await workspace.expectRefused(['apply', 'job.yaml'], 2, 'bad-plan', 'it is a file, expected a run directory');
  });
});

test('a verb on a run is refused a data file, nothing, a directory without a run, and a job without runs: 2, with its path', async () => {
  const workspace = await aJobFor(people(3));
  workspace.write('empty/.keep', '');
  const paths = { 'people.csv': 'bad-job', nothing: 'bad-plan', 'people.csv/below': 'bad-plan', empty: 'bad-plan' };
  for (const [path, code] of Object.entries(paths)) {
    for (const verb of ['status', 'report']) await workspace.expectRefused([verb, path], 2, code, path);
    await workspace.expectRefused(['apply', path], 2, 'bad-plan', path);
  }
  await workspace.expectRefused(['status', 'job.yaml'], 2, 'bad-plan', 'there is no run in');
});

test.each([
  ['below a file', 'people.csv/out', 'ENOTDIR', 'people.csv'],
  ['in a file system of the kernel', '/proc/volley/out', 'ENOENT', 'proc'],
])('an output directory %s is refused: 2, with the path, and nothing is sent', async (_, output, code, path) => {
  const workspace = await aJobFor(people(3), { output });
  const error = { code, message: expect.stringContaining(path) };
  expect(await workspace.refused('run', 'job.yaml')).toMatchObject({ state: 'refused', exitCode: 2, error });
  expect(workspace.requests()).toEqual([]);
});

test('two directories that end in one plan id are refused by every command that uses the run, until one is gone', async () => {
  const { workspace, run } = await aRunThatEndedEarly();
  const plan = readRunName(run);
  mkdirSync(workspace.path('away'));
  for (const other of [plan, `2020-02-29T2359-${plan}`]) {
    const copy = `out/sale/${other}`;
    cpSync(workspace.path(`out/sale/${run}`), workspace.path(copy), { recursive: true });
    for (const args of [
      ['run', 'job.yaml'],
      ['plan', 'job.yaml'],
      ['apply', copy],
      ['apply', `out/sale/${run}`],
      ['status', copy],
      ['retry', copy, '--only', 'unprocessed'],
    ]) {
      const { exitCode, error } = await workspace.refused(...args);
      expect([exitCode, error.code], `${args}: ${error.message}`).toEqual([2, 'bad-plan']);
      for (const said of [`Cannot use run ${plan}: `, run, other]) expect(error.message).toContain(said);
    }
    expect((await workspace.told('runs', 'job.yaml')).runs).toHaveLength(2);
    renameSync(workspace.path(copy), workspace.path(`away/${other}`));
  }
  expect(workspace.requests()).toHaveLength(3);
  expect((await workspace.run()).code).toBe(3);
});

test('runs lists plans and runs, the newest first, with what became of their rows; of one whose directory is gone what the memory knows, of a damaged one what is wrong', async () => {
  const { workspace, first, second, planned } = await aJobWithRuns(0);
  const plan = { job: 'sale', run: planned, state: 'planned', startedAt: null, exitCode: null };

  for (const named of ['job.yaml', 'out/sale', 'out']) {
    const { runs, ...about } = await workspace.told('runs', named);
    expect(about).toEqual({ state: 'listed', exitCode: 0, error: null });
    expect(runs).toMatchObject([
      { ...plan, balance: { unprocessed: 20 } },
      { run: second, state: 'finished', exitCode: 3, balance: { read: 20, inDoubt: 10 }, files: ['people.csv'] },
      { run: first, state: 'finished', exitCode: 0, balance: { accepted: 20 }, retryOf: null, problem: null },
    ]);
    expect(runs[2].bytes).toBeGreaterThan(1000);
    expect(Date.parse(runs[2].endedAt)).toBeGreaterThanOrEqual(Date.parse(runs[2].startedAt));
  }

  rmSync(workspace.path(workspace.runOf(first)), { recursive: true });
  workspace.write(`${workspace.runOf(second)}/plan.json`, '{}');
  const gone = { state: 'gone', exitCode: 0, bytes: 0, balance: { read: 20, accepted: 20 }, files: ['people.csv'] };
  const damaged = { state: 'unreadable', problem: expect.stringContaining('checksum') };
  const { runs } = await workspace.told('runs', 'job.yaml');
  expect(runs).toContainEqual(expect.objectContaining({ run: second, ...damaged }));
  expect(runs.find(({ run }: { run: string }) => run === first)).toMatchObject(gone);
});

test('a run is newer than those that began before it, though the clock was set back since: it has their rows where it sent them again', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'status-401', area: 'sms', nth: 2 });
  const threeHours = 3 * 3_600_000;
  expect((await volleyLater(workspace, threeHours, 'run', 'job.yaml')).code).toBe(4);
  const [[id], first] = [workspace.plans(), workspace.firstRun()];
  expect((await volleyLater(workspace, threeHours, 'abandon', first)).code).toBe(0);
  const again = (await workspace.run('--again')).summary.plan;
  expect((await workspace.told('status', 'job.yaml')).plan).toBe(again);
  expect((await workspace.told('runs', 'job.yaml')).runs.map(({ run }: { run: string }) => run)).toEqual([again, id]);
  const retry = ['retry', first, '--only', 'unprocessed'];
  await workspace.expectRefused(retry, 2, 'plan-mismatch', `run ${again} has sent`);
  const old = ['--older-than', '0h', '--keep-last', '1', '--dry-run'];
  const { pruned } = JSON.parse((await volleyLater(workspace, 2 * threeHours, 'prune', 'job.yaml', ...old)).stdout);
  expect(pruned).toMatchObject([{ directory: workspace.path(first) }]);
});
