import { describe, expect, test } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import type { Files } from '../../src/storage/files.js';
import { removeMemory } from '../registry/memory-on-disk.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aRunThatEndedEarly, aStoppedRun } from './a-stopped-run.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Finished, type Workspace } from './a-workspace.js';
import { anInbox } from './an-inbox.js';
import { runCommandInProcess } from './command-in-process.js';
import { readFailure } from './failure.js';

async function abandon(workspace: Workspace, run: string, ...flags: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await workspace.volley('abandon', `out/sale/${run}`, ...flags);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function retry(workspace: Workspace, run: string, only: string, ...flags: string[]): Promise<Finished> {
  const { stdout, stderr } = await workspace.volley('retry', `out/sale/${run}`, '--only', only, ...flags);
  expect(JSON.parse(stdout).state, stderr).toBe('planned');
  return workspace.volley('apply', JSON.parse(stdout).directory);
}

async function expectRefused(workspace: Workspace, run: string): Promise<void> {
  const { exitCode, error } = readFailure(await workspace.volley('apply', `out/sale/${run}`));
  expect([exitCode, error.code, error.message]).toEqual([2, 'bad-plan', expect.stringMatching(/abandoned on 2.* by /)]);
}

const nobodyTwice = async (workspace: Workspace) => {
  const sent = await workspace.destinations();
  expect(new Set(sent).size).toBe(sent.length);
  return sent;
};

describe('abandon', () => {
  test('a run that died never sends again: what it sent stays, what was under way is in doubt, the rest goes to another plan', async () => {
    const { workspace, run } = await aStoppedRun();
    const balance = { read: 30, accepted: 10, inDoubt: 10, unprocessed: 10 };
    const end = await abandon(workspace, run);

    expect(end).toMatchObject({ plan: readRunName(run), state: 'abandoned', filesAreFree: false, balance });
    await expectRefused(workspace, run);
    workspace.write('people.csv', people(30));
    const idle = await workspace.run();
    expect([idle.code, JSON.parse(idle.stdout).state]).toEqual([3, 'nothing-new']);

    const sent = await retry(workspace, run, 'unprocessed');
    expect(sent.summary.balance).toMatchObject({ read: 10, accepted: 10 });
    const settled = await workspace.volley('settle', `out/sale/${run}`, '--assume', 'not-sent', '--confirm', '10');
    expect(settled.code).toBe(0);
    expect((await retry(workspace, run, 'not-sent')).code).toBe(0);
    expect(await nobodyTwice(workspace)).toEqual(numbersOf(30));
    expect(await abandon(workspace, run)).toMatchObject({ state: 'abandoned' });
    expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');
  });

  test('new files are sent without it, though its own are not: status and runs show it as abandoned', async () => {
    const { workspace, run } = await aRunThatEndedEarly();
    await abandon(workspace, run);
    workspace.write('people.csv', people(5, 40));

    const next = await workspace.run();

    expect(next.summary.balance).toMatchObject({ read: 5, accepted: 5 });
    const status = JSON.parse((await workspace.volley('status', `out/sale/${run}`)).stdout);
    expect(status.state).toMatch(/^abandoned on 2/);
    const { runs } = JSON.parse((await workspace.volley('runs', 'job.yaml')).stdout);
    expect(runs.find((each: { run: string }) => each.run === readRunName(run))).toMatchObject({ state: 'abandoned' });
    expect(await nobodyTwice(workspace)).toHaveLength(15);
  });

  test('a plan of a retry that was never sent keeps its rows, for a retry of it alone', async () => {
    const { workspace, run } = await aRunThatEndedEarly();
    await abandon(workspace, run);
    const first = JSON.parse((await workspace.volley('retry', `out/sale/${run}`, '--only', 'unprocessed')).stdout).plan;

    await abandon(workspace, first);

    const again = await workspace.volley('retry', `out/sale/${run}`, '--only', 'unprocessed');
    expect(JSON.parse(again.stdout).state).toBe('nothing-to-retry');
    expect((await retry(workspace, first, 'unprocessed')).summary.balance).toMatchObject({ read: 10, accepted: 10 });
    await expectRefused(workspace, first);
    // By way of a lost memory.
    removeMemory(workspace.path('out/sale'));
    expect(JSON.parse((await workspace.volley('run', 'job.yaml', '--adopt')).stdout).state).toBe('nothing-new');
    await expectRefused(workspace, run);
    await expectRefused(workspace, first);
    expect(await nobodyTwice(workspace)).toHaveLength(20);
  });

  test('a plan that was abandoned before it was sent had taken nothing: its files are planned anew, and sent once', async () => {
    const workspace = await aJobFor(people(3));
    const { plan } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);

    const { stdout } = await workspace.volley('abandon', `out/sale/${plan}`);

    expect(JSON.parse(stdout)).toMatchObject({ state: 'abandoned', filesAreFree: true, balance: { unprocessed: 3 } });
    const retry = await workspace.volley('retry', `out/sale/${plan}`, '--only', 'unprocessed');
    expect(readFailure(retry).error.message).toMatch(/was never applied$/);
    const { summary } = await workspace.run();
    expect(summary.plan).not.toBe(plan);
    const applied = readFailure(await workspace.volley('apply', `out/sale/${plan}`));
    expect(applied).toMatchObject({ exitCode: 2, error: { message: expect.stringContaining('was abandoned on') } });
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });
});

describe('what a run leaves behind', () => {
  test('a command that finishes a run and sends a new file prints and posts both, and ends with the graver exit code', async () => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 });
    const { url, bodies } = await anInbox();
    workspace.write('people-1.csv', people(30));
    const steps = [anSmsStep({ input: { files: 'people-*.csv' } })];
    workspace.writeJob(aJob(workspace, { notify: { url, on: ['in-doubt'] }, steps }));
    await killAfter(2, workspace, 'run', 'job.yaml');
    workspace.setFaults();
    workspace.write('people-2.csv', people(5, 101));

    const { code, stdout } = await workspace.run();

    const { balance, earlier } = JSON.parse(stdout);
    expect(code).toBe(3);
    expect(balance).toMatchObject({ read: 5, accepted: 5 });
    expect(earlier).toMatchObject([{ exitCode: 3, balance: { accepted: 20, inDoubt: 10 } }]);
    const posted = JSON.parse(bodies.at(-1) ?? '{}');
    expect(posted.runs).toMatchObject([
      { exitCode: 3, balance: { accepted: 20, inDoubt: 10 } },
      { exitCode: 0, balance: { accepted: 5 }, steps: [{ number: 1, messages: 5 }] },
    ]);
    expect([posted.run, posted.steps]).toEqual([posted.runs[1].run, posted.runs[1].steps]);
  });

  test('a command that finishes a run, and cannot plan what is new, tells of the run that it finished', async () => {
    const workspace = await aWorkspace({ kind: 'status-401', nth: 2 });
    workspace.write('people-1.csv', people(30));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people-*.csv' } })] }));
    expect((await workspace.run()).code).toBe(4);
    workspace.setFaults();
    workspace.write('people-2.csv', 'name,mobile\n"P1,1\n');

    const { code, summary, stderr } = await workspace.run();

    expect(code).toBe(2);
    expect(summary).toMatchObject({ state: 'refused', earlier: [{ state: 'finished', balance: { accepted: 30 } }] });
    expect(stderr).toContain('Nothing was sent');
  });
});

/** A disk that fails as the memory is to have that a run has begun: its journal is there, and nothing was sent. */
function diesAsItBegins(): Partial<Env> {
  const writeWhole: Files['writeWhole'] = (path, text) =>
    nodeEnv.files.writeWhole(path, (own) => {
      const whole = typeof text === 'string' ? text : text(own);
      const { runs }: MemoryDocument = path.includes('/memory-') ? readSealed(whole) : { runs: [] };
      if (!runs.some(({ begun, ended }) => begun !== undefined && ended === undefined)) return whole;
      throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' });
    });
  return { files: { ...nodeEnv.files, writeWhole } };
}

/** A command on the job that dies as its run begins, `volley run job.yaml` unless another is named; gives the run. */
async function dieAsItBegins(workspace: Workspace, before = '', args = ['run', 'job.yaml']): Promise<string> {
  const start = { cwd: workspace.directory, env: workspace.env, runtime: diesAsItBegins() };
  const ended = await workspace.finish({ ended: runCommandInProcess(args, start) });
  expect([ended.code, readFailure(ended).error.code]).toEqual([75, 'EIO']);
  return workspace.plans().find((run) => run !== before) ?? '';
}

function writeJob(workspace: Workspace, text: string): void {
  const step = anSmsStep({ input: { files: ['people*.csv'] }, template: { source: 'ACME', text } });
  workspace.writeJob(aJob(workspace, { steps: [step] }));
}

async function applyPlanOf(workspace: Workspace): Promise<Finished> {
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  return workspace.volley('apply', directory);
}

test('a run that died as it began, and whose files another plan sent since, is not resumed', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  writeJob(workspace, 'Hi {{ name }}');
  const run = await dieAsItBegins(workspace);
  writeJob(workspace, 'Hello {{ name }}');
  expect((await applyPlanOf(workspace)).code).toBe(0);

  const { stdout, stderr } = await workspace.run();

  expect(JSON.parse(stdout).state).toBe('nothing-new');
  expect(stderr).toContain(`run ${run} is not resumed: it had sent nothing, and another run took its files since`);
  for (let round = 0; round < 2; round++) {
    const retry = await workspace.volley('retry', `out/sale/${run}`, '--only', 'unprocessed');
    expect(readFailure(retry).error.message).toMatch(/was never applied$/);
    const abandoned = JSON.parse((await workspace.volley('abandon', `out/sale/${run}`)).stdout);
    expect(abandoned).toMatchObject({ state: 'abandoned', filesAreFree: true });
  }
  expect((await workspace.run()).stderr).not.toContain('is not resumed');
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});
