import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { CLUSTER } from '../cluster/a-cluster.js';
import { runWorker } from '../cluster/a-worker.js';
import { type BreakCall, MemoryCluster } from '../cluster/memory-store.js';
import { aTerminal } from '../command/a-terminal.js';
import { aJob } from '../e2e/a-job.js';
import { aWorkspaceInProcess } from '../e2e/a-workspace.js';

/** A worker on a terminal; its waits take no time. */
async function work(flags: Parameters<typeof runWorker>[1], breakCall?: BreakCall) {
  let passedMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => passedMs,
    sleep: async (delayMs) => {
      passedMs += delayMs;
      await new Promise(setImmediate);
    },
  };
  const workspace = await aWorkspaceInProcess();
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, service: { giveUpAfterSeconds: 300 } }));
  const cluster = new MemoryCluster(clock);
  const { terminal, said } = aTerminal({
    env: { VOLLEY_API_KEY: 'key', VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' },
  });
  const runtime = { ...nodeEnv, clock, loadStore: async () => cluster.connect(breakCall) };
  const code = await runWorker(workspace.path('job.yaml'), { json: false, ...flags }, { ...terminal, runtime });
  return { code, ...said, minutes: Math.floor(passedMs / 60_000) };
}

test('a worker whose database does not come back ends after `giveUpAfterSeconds`, and says why', async () => {
  const isAway: BreakCall = () => 'before';

  const onTerminal = await work({}, isAway);
  const forMachines = await work({ json: true }, isAway);

  expect([onTerminal.code, onTerminal.minutes, onTerminal.stdout]).toEqual([
    75,
    5,
    'This worker: 0 rows accepted, 0 rejected, 0 in doubt.\nIt stopped (unavailable): the connection broke.\n',
  ]);
  expect(JSON.parse(forMachines.stdout)).toMatchObject({
    state: 'stopped',
    exitCode: 75,
    reason: 'the connection broke',
    error: {
      code: 'unavailable',
      message: 'it cannot go on for now (the connection broke)',
      hint: 'Run the same command to resume.',
    },
  });
});

test.each([
  ['it has no requests for workers', {}],
  ['it has no requests for workers', { cluster: { ...CLUSTER, share: 'lane' } }],
  ['it is sent to a sandbox within its leader', { cluster: CLUSTER, service: { sandbox: true } }],
])('a worker refuses a job where %s', async (so, written) => {
  const workspace = await aWorkspaceInProcess();
  workspace.writeJob(aJob(workspace, written));

  expect(await workspace.volley('work', 'job.yaml')).toMatchObject({ code: 2, stderr: expect.stringContaining(so) });
});
