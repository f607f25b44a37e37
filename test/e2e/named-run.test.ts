import { cpSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { people } from './a-job.js';
import { aRunThatEndedEarly } from './a-stopped-run.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

/** A job with a finished run, then a stopped one with rows in doubt, then a plan that was not applied. */
async function aJobWithRuns(
  apartMs = 60_000,
): Promise<{ workspace: Workspace; first: string; second: string; planned: string }> {
  const workspace = await aWorkspace();
  const names: string[] = [];
  const note = () => {
    const [name = ''] = workspace.plans().filter((each) => !names.includes(each));
    names.push(name);
    // What decides is when it was planned, and not the order of the names.
    const at = new Date(Date.now() - (10 - names.length) * apartMs);
    utimesSync(workspace.path(`${workspace.runOf(name)}/plan.json`), at, at);
    return name;
  };
  workspace.write('people.csv', people(20));
  workspace.change();
  expect((await workspace.run()).code).toBe(0);
  const first = note();
  workspace.write('people.csv', people(20, 100));
  workspace.setFaults({ kind: 'reset-after', nth: 1 });
  expect((await workspace.run()).code).toBe(3);
  const second = note();
  workspace.setFaults();
  workspace.write('people.csv', people(20, 200));
  expect((await workspace.volley('plan', 'job.yaml')).code).toBe(0);
  return { workspace, first, second, planned: note() };
}

describe('a verb on a run takes a job file, and the directory of a job', async () => {
  const { workspace, first, second, planned } = await aJobWithRuns();
  const objectOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await workspace.volley(...args);
    expect([0, 3], stderr).toContain(code);
    return JSON.parse(stdout);
  };

  test.each(['job.yaml', 'out/sale', './out/sale/'])('status %s shows the newest run, begun or not', async (named) => {
    expect((await objectOf('status', named)).plan).toBe(planned);
  });

  test.each(['job.yaml', 'out/sale'])('report, retry and settle %s take the newest that was begun', async (named) => {
    expect((await objectOf('report', named)).plan).toBe(second);
    expect((await objectOf('retry', named, '--only', 'rejected')).retryOf).toBe(second);
    const refused = await workspace.refused('settle', named, '--assume', 'sent', '--confirm', '3');
    expect(refused.error.message).toMatch(/\b10\b/);
  });

  test('a run directory is that run, and so is its plan id beside it', async () => {
    expect((await objectOf('status', `out/sale/${first}`)).plan).toBe(first);
    expect((await objectOf('report', workspace.runOf(first))).plan).toBe(first);
  });

  test('apply takes a run directory alone, and says what to do with a job file', async () => {
    const { error, exitCode } = await workspace.refused('apply', 'job.yaml');
    expect([exitCode, error.code]).toEqual([2, 'bad-plan']);
    expect(error.message).toContain('it is a file, expected a run directory');
  });
});

test('a verb on a run is refused a data file, nothing, a directory without a run, and a job without runs: 2, with its path', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.write('empty/.keep', '');
  workspace.change();
  for (const verb of ['status', 'report', 'apply']) {
    for (const path of ['people.csv', 'nothing', 'people.csv/below', 'empty']) {
      const { exitCode, error } = await workspace.refused(verb, path);
      expect([path, exitCode]).toEqual([path, 2]);
      expect(error.message).toContain(path);
    }
  }
  const { exitCode, error } = await workspace.refused('status', 'job.yaml');
  expect([exitCode, error.code, error.message]).toEqual([2, 'bad-plan', expect.stringContaining('there is no run in')]);
});

test.each([
  ['below a file', 'people.csv/out', 'ENOTDIR'],
  ['in a file system of the kernel', '/proc/volley/out', 'ENOENT'],
])('an output directory %s is refused: 2, with the path, and nothing is sent', async (_, output, errno) => {
  const workspace = await aJobFor(people(3), { output });
  const { state, exitCode, error } = await workspace.refused('run', 'job.yaml');
  expect([state, exitCode, error.code]).toEqual(['refused', 2, errno]);
  expect(error.message).toContain(output.split('/').at(output.startsWith('/') ? 1 : 0));
  expect(workspace.requests()).toEqual([]);
});

const objectOf = async (workspace: Workspace, ...args: string[]) => await workspace.told(...args);

test('two directories that end in one plan id are refused by every command that uses the run, until one is gone', async () => {
  const { workspace, run } = await aRunThatEndedEarly();
  const plan = readRunName(run);
  const others = [plan, `2020-02-29T2359-${plan}`];
  mkdirSync(workspace.path('away'));
  for (const other of others) {
    const copy = `out/sale/${other}`;
    cpSync(workspace.path(`out/sale/${run}`), workspace.path(copy), { recursive: true });
    for (const [verb, ...args] of [
      ['run', 'job.yaml'],
      ['plan', 'job.yaml'],
      ['apply', copy],
      ['apply', `out/sale/${run}`],
      ['status', copy],
      ['retry', copy, '--only', 'unprocessed'],
    ]) {
      const { exitCode, error } = await workspace.refused(verb ?? '', ...args);
      expect([exitCode, error.code], `${verb}: ${error.message}`).toEqual([2, 'bad-plan']);
      expect(error.message).toContain(`Cannot use run ${plan}: `);
      expect(error.message).toContain(run);
      expect(error.message).toContain(other);
    }
    const { runs } = await objectOf(workspace, 'runs', 'job.yaml');
    expect(runs).toHaveLength(2);
    renameSync(workspace.path(copy), workspace.path(`away/${other}`));
  }
  expect(workspace.requests()).toHaveLength(3);
  expect((await workspace.run()).code).toBe(3);
});

test('runs lists plans and runs, the newest first, with what became of their rows', async () => {
  const { workspace, first, second, planned } = await aJobWithRuns(0);

  for (const named of ['job.yaml', 'out/sale', 'out']) {
    const { code, stdout } = await workspace.volley('runs', named);
    const { runs, ...about } = JSON.parse(stdout);
    expect([code, about]).toEqual([0, { state: 'listed', exitCode: 0, error: null }]);
    expect(runs).toMatchObject([
      { job: 'sale', run: planned, state: 'planned', startedAt: null, exitCode: null, balance: { unprocessed: 20 } },
      { run: second, state: 'finished', exitCode: 3, balance: { read: 20, inDoubt: 10 }, files: ['people.csv'] },
      { run: first, state: 'finished', exitCode: 0, balance: { accepted: 20 }, retryOf: null, problem: null },
    ]);
    expect(runs[2].bytes).toBeGreaterThan(1000);
    expect(Date.parse(runs[2].endedAt)).toBeGreaterThanOrEqual(Date.parse(runs[2].startedAt));
  }
});

test('a run whose directory is gone is listed with what the memory knows, a damaged one with what is wrong', async () => {
  const { workspace, first, second } = await aJobWithRuns(0);
  rmSync(workspace.path(workspace.runOf(first)), { recursive: true });
  workspace.write(`${workspace.runOf(second)}/plan.json`, '{}');

  const runs = (await workspace.told('runs', 'job.yaml')).runs as { run: string }[];

  expect(runs.find(({ run }) => run === first)).toMatchObject({
    ...{ state: 'gone', exitCode: 0, bytes: 0, balance: { read: 20, accepted: 20 }, files: ['people.csv'] },
  });
  expect(runs.find(({ run }) => run === second)).toMatchObject({
    ...{ state: 'unreadable', problem: expect.stringContaining('checksum') },
  });
});
