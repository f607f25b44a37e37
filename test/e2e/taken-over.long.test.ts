import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { type Running, until } from './command.js';
import { readFailure } from './failure.js';

/** Longer than a lease. */
const LATER_MS = 61_000;

/**
 * Clocks of a process that are ahead by what stands in a file. A process that is stopped, and finds another time when it
 * wakes, has nothing else to tell it from one that slept: so no test waits for a lease to run out. Timers are not ahead: what a
 * timer would tell the woken process, it is not told.
 */
const CLOCK = `import { readFileSync } from 'node:fs';
const aheadMs = () => Number(readFileSync(new URL('ahead', import.meta.url), 'utf8'));
const now = Date.now;
Date.now = () => now() + aheadMs();
const monotonic = performance.now.bind(performance);
performance.now = () => monotonic() + aheadMs();
`;

describe.concurrent('a process that is stopped for longer than its lease', () => {
  test('is left alone until then; another takes over, and the woken one sends nothing and says so', async () => {
    const { workspace, owner } = await aStopped(120);

    const early = await workspace.volley('run', 'job.yaml');
    expect([early.code, early.stderr]).toEqual([75, expect.stringContaining('is running it')]);
    workspace.write('ahead', String(LATER_MS));
    const { code, summary } = await finishWithClock(workspace);
    const requests = workspace.requests().length;
    const woken = await wake(owner);

    expect([code, summary.state]).toEqual([3, 'finished']);
    expect(readFailure(woken)).toMatchObject({ exitCode: 75, error: { code: 'lock-held' } });
    expect(woken.stderr).toContain('this process lost its lock on the job, nothing more is sent');
    expect(workspace.requests()).toHaveLength(requests);
    await expectEachOnce(workspace, { count: 120, inDoubt: 30 });
  });
});

test('a process whose clocks stood still with it finds by the lock alone that another has taken over', async () => {
  const workspace = await aWorkspaceWithClock(60, { limits: ONE_AT_ONCE });
  workspace.setFaults({ kind: 'latency', delayMs: 3000, nth: 2 });
  const owner = workspace.start(['run', 'job.yaml']);
  await until(() => workspace.requests().length === 2);
  owner.signal('SIGSTOP');
  // As for a virtual machine that was put aside: the file grew old, and no clock of the process tells.
  const [lock = ''] = list(workspace, 'out/sale').filter((name) => name.startsWith('lock-'));
  const [held = '', note] = workspace.read(`out/sale/${lock}`).split('\n');
  const old = { ...JSON.parse(held), renewedAt: JSON.parse(held).renewedAt - LATER_MS };
  workspace.write(`out/sale/${lock}`, `${JSON.stringify(old)}\n${note}\n`);

  const { code } = await workspace.run();
  const requests = workspace.requests().length;
  const woken = await wake(owner);

  expect([code, woken.code]).toEqual([3, 75]);
  expect(woken.stderr).toContain('lost its lock');
  expect(workspace.requests()).toHaveLength(requests);
  await expectEachOnce(workspace, { count: 60, inDoubt: 10 });
});

const ONE_AT_ONCE = { requestsPerSecond: 1000, concurrency: 1 };

/** A process that is stopped while it waits for three answers, which is as many as it may wait for: nothing else is on its way. */
async function aStopped(count: number) {
  const workspace = await aWorkspaceWithClock(count, { limits: { requestsPerSecond: 1000, concurrency: 3 } });
  workspace.setFaults({ kind: 'latency', delayMs: 3000, nth: [4, 5, 6] }, { kind: 'latency', delayMs: 100 });
  const owner = startWithClock(workspace);
  await until(() => workspace.requests().length === 6);
  owner.signal('SIGSTOP');
  return { workspace, owner };
}

async function aWorkspaceWithClock(count: number, step: Parameters<typeof anSmsStep>[0]): Promise<Workspace> {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 150 });
  workspace.write('clock.mjs', CLOCK);
  workspace.write('ahead', '0');
  workspace.write('people.csv', people(count));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep(step)] }));
  return workspace;
}

function startWithClock(workspace: Workspace): Running {
  return workspace.start(['run', 'job.yaml'], { nodeArguments: ['--import', './clock.mjs'] });
}

function finishWithClock(workspace: Workspace) {
  return workspace.finish(startWithClock(workspace));
}

function wake(owner: Running) {
  owner.signal('SIGCONT');
  return owner.ended;
}

/** Also behind the late words that the woken process may have written into the journal. */
async function expectEachOnce(workspace: Workspace, expected: { count: number; inDoubt: number }): Promise<void> {
  const again = await workspace.run();
  expect([again.code, JSON.parse(again.stdout).state]).toEqual([expected.inDoubt > 0 ? 3 : 0, 'nothing-new']);
  const [run = ''] = workspace.runs();
  await workspace.volley('report', `out/sale/${run}`);
  const summary = JSON.parse(workspace.read(`out/sale/${run}/summary.json`));
  expectEveryRowOnce(summary);
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
  const accepted = readOutput(summary, 1, 'results').map((row) => row.mobile ?? '');
  const inDoubt = readOutput(summary, 1, 'in-doubt').map((row) => row.mobile ?? '');
  expect(inDoubt).toHaveLength(expected.inDoubt);
  expect([...accepted, ...inDoubt].sort()).toEqual(numbersOf(expected.count));
  expect(accepted.filter((number) => !sent.includes(number))).toEqual([]);
}

function list(workspace: Workspace, name: string): string[] {
  return existsSync(workspace.path(name)) ? readdirSync(workspace.path(name)) : [];
}
