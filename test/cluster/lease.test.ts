import { expect, test } from 'vitest';
import { AcknowledgedCalls, Lease, LeaseLost } from '../../src/cluster/lease.js';
import type { SentCalls } from '../../src/cluster/store.js';
import { FakeClock } from '../run/fake-clock.js';

const LEASE_MS = 30_000;

function aLease(lives: string[], checkedIn?: string) {
  const clock = new FakeClock();
  const sent = new AcknowledgedCalls(clock);
  sent.checkedIn = checkedIn;
  const checkIns: (readonly [life: string, SentCalls])[] = [];
  const life = () => (lives.length > 1 ? (lives.shift() ?? '') : (lives[0] ?? ''));
  const store = {
    beat: async () => ({ isAlive: true, life: life() }),
    checkIn: async (...call: [life: string, SentCalls]) => {
      checkIns.push(call);
    },
  };
  const lease = new Lease('w', { store, clock, leaseMs: LEASE_MS, name: 'host 1', sent });
  return { lease, clock, sent, checkIns, lives: () => checkIns.map(([life]) => life) };
}

test('a worker checks in as it begins: the reply may be to a second call, in another life than the first', async () => {
  const { lease, lives } = aLease(['one']);
  await lease.start();
  await lease.stop();
  expect(lives()).toEqual(['one']);
});

test.each([
  ['one', []],
  ['two', ['two']],
])('a process that takes another lease, in life %s, checks in only where it had not: %j', async (life, expected) => {
  const { lease, lives } = aLease([life], 'one');
  await lease.start();
  await lease.stop();
  expect(lives()).toEqual(expected);
});

test('a process checks in with its last call under each lease of ten minutes, and the runs that it worked on', async () => {
  const { lease, clock, sent, checkIns } = aLease(['two'], 'one');
  sent.note('long ago', 1, 'a run');
  clock.jump({ wallMs: 600_001, steadyMs: 600_001 });
  sent.note('before', 2, 'a run');
  sent.note('before', 3, 'another');
  await lease.start();
  await lease.stop();
  const calls = [
    { worker: 'w', call: 0 },
    { worker: 'before', call: 3 },
  ];
  expect(checkIns).toEqual([['two', { calls, births: ['a run', 'another'] }]]);
});

test.each([
  ['was stopped', { wallMs: LEASE_MS - 9_999, steadyMs: LEASE_MS - 9_999 }],
  ['slept with its machine', { wallMs: LEASE_MS - 9_999, steadyMs: 0 }],
])('a process that %s sends nothing from ten seconds before the end of its lease', async (_, jump) => {
  const { lease, clock } = aLease(['one']);
  await lease.start();
  expect(() => lease.assertFresh()).not.toThrow();
  clock.jump(jump);
  expect(() => lease.assertFresh()).toThrow(LeaseLost);
  await lease.stop();
});

test('a worker that leaves in a new life of the server checks in before', async () => {
  const { lease, lives } = aLease(['one', 'two'], 'one');
  await lease.start();
  expect(lives()).toEqual([]);
  await lease.stop();
  expect(lives()).toEqual(['two']);
});
