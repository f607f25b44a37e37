import { expect, test } from 'vitest';
import { StoreLost } from '../../src/cluster/store.js';
import { createContext } from '../../src/command/context.js';
import { nodeEnv } from '../../src/command/env.js';
import { openCluster } from '../../src/command/open-cluster.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { createRandom } from '../../src/sandbox/random.js';
import { aTerminal } from '../command/a-terminal.js';
import { anSmsStep } from '../e2e/a-job.js';
import { Timeline } from '../world/timeline.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { clockOf } from './lanes-on-a-timeline.js';
import { type BreakCall, MemoryCluster } from './memory-store.js';

/** Bad answers in a row, where the time for it is over. */
const BAD_TO_GIVE_UP = 5;

test('a worker that gives up asks the database nothing more: a call that waits for it would keep the process', async () => {
  const cluster = { ...CLUSTER, sendHere: false };
  const service = { giveUpAfterSeconds: 0 };
  const limits = { requestsPerSecond: 100, messagesPerSecond: 1000, concurrency: 4 };
  const workspace = await aJobOf(BAD_TO_GIVE_UP, { cluster, service, steps: [anSmsStep({ batchSize: 1, limits })] });
  const memory = new MemoryCluster(systemClock);
  const { lead, work } = aCluster(workspace);
  const leading = lead({ loadStore: async () => memory.connect() });
  const waits: Promise<void>[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (...asked) => {
      const wait = systemClock.sleep(...asked);
      waits.push(wait);
      return wait;
    },
  };
  const failure = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'UND_ERR_SOCKET' } as const;
  const loadTransport = async () => () => ({ send: async () => failure, close: async () => {} });
  const worker = work({ clock, loadTransport, loadStore: async () => memory.connect() });

  expect(await worker.ended).toBe(75);
  await Promise.all(waits);
  await new Promise(setImmediate);
  expect(memory.lateCalls).toEqual([]);
  leading.stop();
  await leading.ended;
});

test('a call of a database that this process has closed is not repeated', async () => {
  const memory = new MemoryCluster(systemClock);
  const { terminal } = aTerminal({ env: { VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' } });
  const runtime = { ...nodeEnv, loadStore: async () => memory.connect() };
  const settings = { ...CLUSTER, share: 'lane', leaseSeconds: 30, sendHere: true } as const;
  const cluster = await openCluster(createContext({ ...terminal, runtime }), settings, 900);
  await cluster.close();

  await expect(cluster.store.hasRuns({})).rejects.toBeInstanceOf(StoreLost);
  expect(memory.lateCalls).toEqual(['hasRuns']);
});

/** The seconds in which a process takes back what others lost, of 60; `isAway`: at a time, the database. */
async function listRecoveries(isAway: (atMs: number) => boolean): Promise<readonly number[]> {
  const timeline = new Timeline(createRandom(1, 1));
  const clock = clockOf(timeline);
  const recovered: number[] = [];
  const breakCall: BreakCall = (method) => {
    if (isAway(timeline.nowMs)) return 'before';
    if (method === 'recover') recovered.push(Math.floor(timeline.nowMs / 1000));
    return undefined;
  };
  const { terminal } = aTerminal({ env: { VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' } });
  const runtime = { ...nodeEnv, clock, loadStore: async () => new MemoryCluster(clock).connect(breakCall) };
  const settings = { ...CLUSTER, share: 'lane', leaseSeconds: 30, sendHere: true } as const;
  const { close } = await openCluster(createContext({ ...terminal, runtime }), settings, 900);
  await timeline.runUntil(() => timeline.nowMs > 60_000);
  await close();
  return recovered;
}

test('a process that was cut off from the database takes back nothing for 15 s: others come back with it, and say what became of theirs', async () => {
  const recovered = await listRecoveries((atMs) => atMs > 9_500 && atMs < 18_000);

  expect(recovered).toContain(9);
  expect(recovered.find((second) => second >= 10)).toBeGreaterThanOrEqual(30);
});

test('a process that loses a call every few seconds takes back what a lost worker had: a run would not end without it', async () => {
  const recovered = await listRecoveries((atMs) => atMs % 3_000 < 1_100);

  expect(recovered.length).toBeGreaterThan(15);
});
