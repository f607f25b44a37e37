import { expect, test } from 'vitest';
import { AcknowledgedCalls, Lease, LeaseLost } from '../../src/cluster/lease.js';
import type { SentCalls } from '../../src/cluster/store.js';
import { FakeClock } from '../run/fake-clock.js';

const LEASE_MS = 30_000;

/** Of a process that has checked in to life `one` of the server; `lives`: in which each beat finds it. */
function aLease(...lives: string[]) {
  const clock = new FakeClock();
  const sent = new AcknowledgedCalls(clock);
  sent.checkedIn = 'one';
  const checkIns: (readonly [life: string, SentCalls])[] = [];
  const store = {
    beat: async () => ({ isAlive: true, life: lives.shift() ?? '' }),
    checkIn: async (...call: [life: string, SentCalls]) => {
      checkIns.push(call);
    },
  };
  const lease = new Lease('w', { store, clock, leaseMs: LEASE_MS, name: 'host 1', sent });
  return { lease, clock, sent, checkIns };
}

test('a worker checks in once to each life of the server, also as it leaves', async () => {
  const { lease, checkIns } = aLease('one', 'two');
  await lease.start();
  expect(checkIns).toEqual([]);
  await lease.stop();
  expect(checkIns.map(([life]) => life)).toEqual(['two']);
});

test('it checks in with its last call under each lease of ten minutes, and the runs that it worked on', async () => {
  const { lease, clock, sent, checkIns } = aLease('two', 'two');
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
  const { lease, clock } = aLease('one', 'one');
  await lease.start();
  expect(() => lease.assertFresh()).not.toThrow();
  clock.jump(jump);
  expect(() => lease.assertFresh()).toThrow(LeaseLost);
  await lease.stop();
});
