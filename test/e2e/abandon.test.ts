import { describe, expect, test } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { removeMemory } from '../registry/memory-on-disk.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aRunThatEndedEarly, aStoppedRun } from './a-stopped-run.js';
import { aWorkspaceInProcess as aWorkspace, type Finished, type Workspace } from './a-workspace.js';
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
    const dry = await abandon(workspace, run, '--dry-run');
    const balance = { read: 30, accepted: 10, inDoubt: 10, unprocessed: 10 };
    expect(dry).toMatchObject({ state: 'dry-run', balance });
    expect(workspace.read(`out/sale/${run}/run.json`)).not.toContain('abandoned');

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
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace));
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
