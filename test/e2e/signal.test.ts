import { expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees } from './account.js';
import { until } from './command.js';

const TWO_AT_ONCE = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 2 };

test.concurrent.each(oneIn(2, ['SIGTERM', 'SIGINT'] as const))(
  '%s: what is in flight is answered, nothing new is sent, and the same command goes on',
  async (name) => {
    const workspace = await aSlowWorkspace(1500);
    const running = workspace.start(['run', 'job.yaml']);
    await until(() => workspace.requests().length === 3);
    running.signal(name);

    const { code, summary } = await workspace.finish(running);

    expect(code).toBe(75);
    expectEveryRowOnce(summary);
    expect(summary).toMatchObject({ state: 'stopped', stop: { reason: 'interrupted', detail: name } });
    expect(summary.balance).toMatchObject({ accepted: 30, inDoubt: 0, unprocessed: 20 });
    expect(workspace.requests()).toHaveLength(3);
    expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);

    workspace.setFaults();
    const again = await workspace.run();

    expect(again.code).toBe(0);
    expect(again.summary).toMatchObject({ plan: summary.plan, state: 'finished', balance: { accepted: 50 } });
    expect(await workspace.destinations()).toEqual(numbersOf(50));
  },
);

test.concurrent('a second signal leaves at once; what was in flight is in doubt, and is not sent again', async () => {
  const workspace = await aSlowWorkspace(120_000);
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => workspace.requests().length === 3);
  running.signal('SIGTERM');
  await running.says('nothing new is sent');
  running.signal('SIGTERM');

  const { code } = await running.ended;

  expect(code).toBe(75);
  // It did not wait for the answers: the sandbox still holds them back.
  expect(workspace.requests().map(({ status }) => status)).toEqual([200, 0, 0]);
  workspace.setFaults();
  const again = await workspace.run();
  expect(again.code).toBe(3);
  expect(again.summary.balance).toMatchObject({ accepted: 30, inDoubt: 20, unprocessed: 0 });
  expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(20, 31)]);
});

/** The first request is a probe, and answered at once; then two are in flight. */
async function aSlowWorkspace(delayMs: number): Promise<Workspace> {
  const workspace = await aWorkspace({ kind: 'latency', nth: [2, 3], delayMs });
  workspace.write('people.csv', people(50));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits: TWO_AT_ONCE })] }));
  return workspace;
}

const DRAIN_MS = 30_000;

/** Loaded before the command: thirty seconds are over as soon as there is this file; every other time passes as ever. */
const TIME_IS_UP = 'time-is-up';
const PASSING = `data:text/javascript,${encodeURIComponent(`import { existsSync } from 'node:fs';
const wait = globalThis.setTimeout;
globalThis.setTimeout = (task, ms, ...more) => {
  if (ms !== ${DRAIN_MS}) return wait(task, ms, ...more);
  const polling = setInterval(() => {
    if (!existsSync('${TIME_IS_UP}')) return;
    clearInterval(polling);
    task(...more);
  }, 5);
  return polling;
};`)}`;

test('one signal before a service that never answers: the wait is bounded, the next process stays out meanwhile', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 600_000, nth: [2, 3] });
  workspace.write('people.csv', people(50));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits: { requestsPerSecond: 1800, concurrency: 2 } })] }));
  const draining = workspace.start(['run', 'job.yaml'], { nodeArguments: ['--import', PASSING] });
  // The first is a probe.
  await until(() => workspace.requests().length === 3);
  draining.signal('SIGTERM');
  await draining.says('nothing new is sent');

  const next = await workspace.run();
  expect([next.code, next.stderr]).toEqual([75, expect.stringContaining('is running it')]);
  expect(workspace.requests()).toHaveLength(3);

  workspace.write(TIME_IS_UP, '');
  const { code, summary } = await workspace.finish(draining);
  expect(code).toBe(75);
  expect(summary).toMatchObject({ state: 'stopped', balance: { accepted: 10, inDoubt: 20, unprocessed: 20 } });
  expect(workspace.read(`${workspace.runOf(summary.plan)}/journal.ndjson`)).toContain('"type":"close"');

  const again = await workspace.run();
  expect([again.code, again.summary.balance]).toEqual([3, expect.objectContaining({ accepted: 30, inDoubt: 20 })]);
  expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(20, 31)]);
});
