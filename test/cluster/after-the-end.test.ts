import { expect, test } from 'vitest';
import { StoreLost } from '../../src/cluster/store.js';
import { createContext } from '../../src/command/context.js';
import { nodeEnv } from '../../src/command/env.js';
import { openCluster } from '../../src/command/open-cluster.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { aTerminal } from '../command/a-terminal.js';
import { anSmsStep } from '../e2e/a-job.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { MemoryCluster } from './memory-store.js';

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

/** `recoverAgain`: after a time, in which the database is away for the next `awayMs`; which calls reached it. */
async function aRecovering() {
  const memory = new MemoryCluster(systemClock);
  let nowMs = 0;
  let awayUntilMs = 0;
  const asked: string[] = [];
  const breakCall = (method: string) => {
    if (nowMs < awayUntilMs) return 'before';
    asked.push(method);
    return undefined;
  };
  const sleep = async (delayMs: number) => {
    nowMs += delayMs;
  };
  const clock: Clock = { now: () => nowMs, monotonicMs: () => nowMs, sleep };
  const { terminal } = aTerminal({ env: { VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' } });
  const runtime = { ...nodeEnv, clock, loadStore: async () => memory.connect(breakCall) };
  const settings = { ...CLUSTER, share: 'lane', leaseSeconds: 30, sendHere: true } as const;
  const { store, close } = await openCluster(createContext({ ...terminal, runtime }), settings, 900);
  const recoverAgain = async (afterMs: number, awayMs = 0) => {
    nowMs += afterMs;
    awayUntilMs = nowMs + awayMs;
    await store.recover();
    return asked.splice(0).filter((method) => !method.endsWith(' reply'));
  };
  return { recoverAgain, close };
}

test('a process that was cut off from the database takes back nothing for 15 s: others come back with it, and say what became of theirs', async () => {
  const { recoverAgain, close } = await aRecovering();
  expect(await recoverAgain(0)).toEqual(['recover']);
  expect(await recoverAgain(2_000, 8_000)).toEqual(['readServer']);
  expect(await recoverAgain(10_000)).toEqual([]);
  expect(await recoverAgain(5_000)).toEqual(['recover']);
  await close();
});

test('a process that loses a call every few seconds takes back what a lost worker had: a run would not end without it', async () => {
  const { recoverAgain, close } = await aRecovering();
  for (let times = 0; times < 5; times += 1) expect(await recoverAgain(3_000, 100)).toEqual(['recover']);
  await close();
});
