import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { runWorker } from '../cluster/a-worker.js';
import { type BreakCall, MemoryCluster } from '../cluster/memory-store.js';
import { aTerminal } from '../command/a-terminal.js';

/** A worker on a terminal; its waits take no time. */
async function work(flags: Parameters<typeof runWorker>[0], breakCall?: BreakCall) {
  let passedMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => passedMs,
    sleep: async (delayMs) => {
      passedMs += delayMs;
      await new Promise(setImmediate);
    },
  };
  const cluster = new MemoryCluster(clock);
  const { terminal, said } = aTerminal({ env: { VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' } });
  const runtime = { ...nodeEnv, clock, loadStore: async () => cluster.connect(breakCall) };
  const code = await runWorker({ json: false, ...flags }, { ...terminal, runtime });
  return { code, ...said, minutes: Math.floor(passedMs / 60_000) };
}

test('a worker whose database does not come back ends after five minutes, and says why', async () => {
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

test('a worker for one run says once that the database does not know it', async () => {
  const { code, stderr } = await work({ run: 'k3v9q2m8x4aa', untilIdle: 2000 });

  expect([code, stderr.match(/run k3v9q2m8x4aa is not in the database/g)]).toEqual([0, [expect.any(String)]]);
  expect((await work({ untilIdle: 2000 })).stderr).not.toContain('not in the database');
});
