import { expect, test } from 'vitest';
import { HeldParts } from '../../src/cluster/held-parts.js';
import { AcknowledgedCalls, LeaseLost } from '../../src/cluster/lease.js';
import { aRun, openStep, PART, readNews } from './a-run.js';
import { MemoryCluster } from './memory-store.js';

const BEGIN = { type: 'intent', ...PART, at: 0, line: [0, 100], rows: [2, 2] } as const;
const LEASE = { leaseMs: 30_000 };

/** A worker that has begun its request, and waits for its turn. */
async function aWaitingRequest(onCall: (method: string, sent: { life: string | undefined }) => void = () => {}) {
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
  const { life } = await store.readServer();
  await store.beat('w', { name: 'host', leaseMs: 600_000, life });
  const calls: string[] = [];
  const sent = new AcknowledgedCalls(clock);
  sent.life = life;
  const counted = memory.connect((method) => {
    calls.push(method);
    onCall(method, sent);
    return undefined;
  });
  const held = new HeldParts(
    { worker: 'w', run: 'run-a', step: 1, born: '', epoch: 1 },
    { store: counted, lease: { assertFresh }, clock, sent },
    { claimAtOnce: () => 1 },
  );
  await held.next();
  await held.append(BEGIN);
  calls.splice(0);
  const wait = (ms: number) => {
    nowMs += ms;
  };
  const loseLease = () => {
    isLost = true;
  };
  return { held, store, lead, calls, wait, loseLease };
}

test('a request that waits long for its turn asks now and then, and leaves while its run is led', async () => {
  const { held, store, lead, calls, wait } = await aWaitingRequest();
  wait(5_000);
  await held.assertHeld();
  expect(calls).toEqual([]);
  for (let minute = 0; minute < 5; minute += 1) {
    wait(60_000);
    await readNews(store, lead);
    await held.assertHeld();
    held.assertFresh();
  }
  expect(calls.filter((call) => call === 'claim')).toHaveLength(5);
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
  const begun = aWaitingRequest((method, sent) => {
    if (method === 'append reply') sent.life = 'the next';
  });
  await expect(begun).rejects.toThrow(LeaseLost);
});
