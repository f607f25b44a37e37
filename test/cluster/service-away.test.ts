import { expect, test } from 'vitest';
import type { PartResult } from '../../src/journal/entry-format.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { createTransport, type Transport } from '../../src/service/transport.js';
import { aContactsStep, anSmsStep, numbersOf } from '../e2e/a-job.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand, tick } from './a-hand.js';
import { MemoryCluster } from './memory-store.js';

const AWAY: PartResult = { kind: 'again', why: 'ECONNREFUSED' };
const NEEDED_IN_A_ROW = 5;
/** Of time that counts. */
const MAX_STEP_MS = 5_000;
/** So many seconds pass in one. */
function aQuickClock(times: number): Clock {
  const startMs = systemClock.now();
  return {
    now: () => startMs + (systemClock.now() - startMs) * times,
    monotonicMs: () => systemClock.monotonicMs() * times,
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / times, signal),
  };
}

test('a run whose workers never reach the service stops, though each of them is replaced before it gives up', async () => {
  const cluster = { ...CLUSTER, sendHere: false, leaseSeconds: 15 };
  const service = { giveUpAfterSeconds: 0 };
  const workspace = await aJobOf(2, { cluster, service, steps: [anSmsStep({ batchSize: 1 })] });
  let passedMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs };
  const memory = new MemoryCluster(systemClock);
  const store = memory.connect();
  const { ended } = aCluster(workspace).lead({ clock, loadStore: async () => memory.connect() });
  for (let worker = 0; worker < 3; worker += 1) {
    const hand = await aHand(store);
    await hand.begin();
    await hand.end(AWAY);
    await hand.die();
    while (memory.attempts().some(({ ended }) => ended !== undefined)) await tick();
    passedMs += MAX_STEP_MS;
  }

  expect(await ended).toBe(75);
  expect(workspace.read(`out/sale/${workspace.runs()[0]}/journal.ndjson`)).toContain(
    '"reason":"unavailable","detail":"no worker reaches the service: ECONNREFUSED"',
  );
});

test('a run of which nothing is sent, for whatever cause, ends after the same time', async () => {
  const cluster = { ...CLUSTER, sendHere: false, leaseSeconds: 15 };
  const workspace = await aJobOf(2, { cluster, service: { giveUpAfterSeconds: 5 } });
  const memory = new MemoryCluster(systemClock);
  const { ended } = aCluster(workspace).lead({ clock: aQuickClock(20), loadStore: async () => memory.connect() });

  expect(await ended).toBe(75);
  const journal = workspace.read(`out/sale/${workspace.runs()[0]}/journal.ndjson`);
  expect(journal).toMatch(
    /"reason":"unavailable","detail":"nothing was sent for 2\d s; no worker is there: start `volley work`"/u,
  );
});

test('a worker that cannot reach the service gives back what it has claimed, and makes no other one wait', async () => {
  const cluster = { ...CLUSTER, sendHere: false };
  const limits = { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 8 };
  const service = { giveUpAfterSeconds: 400 };
  const workspace = await aJobOf(20, { cluster, service, steps: [anSmsStep({ batchSize: 1, limits })] });
  const { lead, work } = aCluster(workspace);
  const memory = new MemoryCluster(systemClock);
  const pauses: number[] = [];
  const loadStore = noting(memory, pauses);
  const leader = lead({ loadStore });
  const failure = { kind: 'failure', mayHaveBeenProcessed: false, reason: 'EHOSTUNREACH' } as const;
  let attempts = 0;
  const send = async () => {
    attempts += 1;
    return failure;
  };
  const away = work({
    clock: { ...aQuickClock(20), now: systemClock.now },
    loadStore,
    loadTransport: async () => () => ({ send, close: async () => {} }),
  });
  while (attempts <= NEEDED_IN_A_ROW) await tick();
  const other = work({ loadStore });

  expect([await leader.ended, await other.ended, await away.ended]).toEqual([0, 0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(20));
  expect(new Set(pauses)).toEqual(new Set([0]));
  // With pauses of up to 30 s of its clock.
  expect(attempts).toBeLessThan(20);
});

test('a pause that the service asks for is for all', async () => {
  const clock = aQuickClock(5);
  const memory = new MemoryCluster(clock);
  const limits = { requestsPerSecond: 100, concurrency: 4 };
  const workspace = await aJobOf(20, { cluster: CLUSTER, steps: [aContactsStep({ limits })] });
  const pauses: number[] = [];
  let asked = 0;
  const loadTransport = async () => (timeouts: Parameters<typeof createTransport>[0]) => {
    const real = createTransport(timeouts);
    const pause = { kind: 'response', status: 429, headers: { 'retry-after': '1' }, body: Buffer.from('') } as const;
    const send: Transport['send'] = async (...call) => (++asked > 5 ? real.send(...call) : pause);
    return { ...real, send };
  };

  expect(await aCluster(workspace).run({ clock, loadStore: noting(memory, pauses), loadTransport })).toBe(0);
  expect(Math.max(...pauses)).toBeGreaterThan(900);
});

/** Notes which pauses are asked for. */
function noting(memory: MemoryCluster, pauses: number[]) {
  return async () => {
    const store = memory.connect();
    const book: typeof store.book = (lane, asked) => {
      pauses.push(asked.pauseMs);
      return store.book(lane, asked);
    };
    return { ...store, book };
  };
}
