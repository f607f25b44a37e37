import { rmSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A job with a finished run, then a stopped one with rows in doubt, then a plan that was not applied. */
async function aJobWithRuns(): Promise<{ workspace: Workspace; first: string; second: string; planned: string }> {
  const workspace = await aWorkspace();
  const names: string[] = [];
  const note = () => {
    const [name = ''] = workspace.plans().filter((each) => !names.includes(each));
    names.push(name);
    // What decides is when it was planned, and not the order of the names.
    const at = new Date(Date.now() - (10 - names.length) * 60_000);
    utimesSync(workspace.path(`${workspace.runOf(name)}/plan.json`), at, at);
    return name;
  };
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace));
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
    const refused = readFailure(await workspace.volley('settle', named, '--assume', 'sent', '--confirm', '3'));
    expect(refused.error.message).toMatch(/\b10\b/);
  });

  test('a run directory is that run, and so is its plan id beside it', async () => {
    expect((await objectOf('status', `out/sale/${first}`)).plan).toBe(first);
    expect((await objectOf('report', workspace.runOf(first))).plan).toBe(first);
  });

  test('apply takes a run directory alone, and says what to do with a job file', async () => {
    const { error, exitCode } = readFailure(await workspace.volley('apply', 'job.yaml'));
    expect([exitCode, error.code]).toEqual([2, 'bad-plan']);
    expect(error.message).toContain('it is a file, expected a run directory');
  });
});

describe.concurrent('what a verb on a run cannot use', () => {
  test.each(['status', 'report', 'apply'])(
    '%s of a data file, of nothing, of a directory without a run: 2, with its path',
    async (verb) => {
      const workspace = await aWorkspace();
      workspace.write('people.csv', people(3));
      workspace.write('empty/.keep', '');
      for (const path of ['people.csv', 'nothing', 'people.csv/below', 'empty']) {
        const { exitCode, error } = readFailure(await workspace.volley(verb, path));
        expect([path, exitCode]).toEqual([path, 2]);
        expect(error.message).toContain(path);
      }
    },
  );

  test('a job without runs: 2', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace));
    const { exitCode, error } = readFailure(await workspace.volley('status', 'job.yaml'));
    expect([exitCode, error.code]).toEqual([2, 'bad-plan']);
    expect(error.message).toContain('there is no run in');
  });
});

describe.concurrent('an output directory', () => {
  test.each([
    ['a file', 'people.csv', 'ENOTDIR'],
    ['below a file', 'people.csv/out', 'ENOTDIR'],
    ['in a file system of the kernel', '/proc/volley/out', 'ENOENT'],
    ['with a name that is too long', 'x'.repeat(300), 'ENAMETOOLONG'],
  ])('that is %s: 2, with the path, and nothing is sent', async (_, output, errno) => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace, { output }));
    for (const verb of ['run', 'plan']) {
      const { state, exitCode, error } = readFailure(await workspace.volley(verb, 'job.yaml'));
      expect([state, exitCode, error.code]).toEqual(['refused', 2, errno]);
      expect(error.message).toContain(output.split('/').at(output.startsWith('/') ? 1 : 0));
    }
    expect(workspace.requests()).toEqual([]);
    rmSync(workspace.path('job.yaml'));
  });
});
