import { expect, test } from 'vitest';
import { holdParts } from '../../src/cluster/held-parts.js';
import { type AcknowledgedCalls, createCalls, LeaseLost } from '../../src/cluster/lease.js';
import { aRun, openStep, PART, renewLead } from './a-run.js';
import { MemoryCluster } from './memory-store.js';

const BEGIN = { type: 'intent', ...PART, at: 0, line: [0, 100], rows: [2, 2] } as const;
const LEASE = { leaseMs: 30_000 };
const A_BEAT = { name: 'host', leaseMs: 600_000 };

/** A worker that has begun its request, and waits for its turn. */
async function aWaitingRequest(
  onAppend: (calls: AcknowledgedCalls, memory: MemoryCluster) => Promise<unknown> = async () => {},
) {
  let nowMs = 1_800_000_000_000;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} };
  const memory = new MemoryCluster(clock);
  const cluster = { connect: async () => memory.connect() };
  const { store, lead } = await aRun(cluster);
  await openStep(store, lead, LEASE);
  let isLost = false;
  const assertFresh = () => {
    if (isLost) throw new LeaseLost('the lease of the worker has ended');
  };
  const called: string[] = [];
  const counted = memory.connect(async (method) => {
    called.push(method);
    if (method === 'append reply') await onAppend(calls, memory);
    return undefined;
  });
  const calls: AcknowledgedCalls = createCalls(counted, clock);
  await calls.beat('w', A_BEAT);
  const run = { run: 'run-a', step: 1, born: '', epoch: 1 };
  const held = holdParts(run, { worker: 'w', calls, assertFresh }, () => 1);
  await held.next();
  await held.append(BEGIN);
  called.splice(0);
  const wait = (ms: number) => {
    nowMs += ms;
  };
  const loseLease = () => {
    isLost = true;
  };
  return { held, store, lead, called, wait, loseLease };
}

test('a request that waits long for its turn asks now and then, and leaves while its run is led', async () => {
  const { held, store, lead, called, wait } = await aWaitingRequest();
  wait(5_000);
  await held.assertHeld();
  expect(called).toEqual([]);
  for (let minute = 0; minute < 5; minute += 1) {
    wait(60_000);
    await renewLead(store, lead);
    await held.assertHeld();
    held.assertFresh();
  }
  expect(called.filter((call) => call === 'claim')).toHaveLength(5);
});

test.each<[string, (request: Waiting) => void]>([
  ['the lease of its leader has ended', ({ wait }) => wait(LEASE.leaseMs)],
  ['the lease of its worker has ended', ({ loseLease }) => loseLease()],
])('a request that has begun does not leave where %s', async (_, happen) => {
  const request = await aWaitingRequest();
  await request.held.assertHeld();
  happen(request);
  await expect(request.held.assertHeld()).rejects.toThrow(LeaseLost);
  expect(() => request.held.assertFresh()).toThrow(LeaseLost);
});

type Waiting = Awaited<ReturnType<typeof aWaitingRequest>>;

test('a worker that is paused between its turn and its first byte sends nothing after ten seconds', async () => {
  const { held, wait } = await aWaitingRequest();
  await held.assertHeld();
  wait(10_001);
  expect(() => held.assertFresh()).toThrow(LeaseLost);
});

test('a worker that has checked in to another life of the server sends nothing that the one before let begin', async () => {
  const begun = aWaitingRequest(async (calls, memory) => {
    memory.restart();
    await calls.beat('w', A_BEAT);
  });
  await expect(begun).rejects.toThrow(LeaseLost);
});
