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
