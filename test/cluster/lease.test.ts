import { expect, test } from 'vitest';
import { Lease, LeaseLost } from '../../src/cluster/lease.js';
import { FakeClock } from '../run/fake-clock.js';

const LEASE_MS = 30_000;

function aLease(lives: string[], sent: { life: string | undefined } = { life: undefined }) {
  const clock = new FakeClock();
  const checkedIn: string[] = [];
  const life = () => (lives.length > 1 ? (lives.shift() ?? '') : (lives[0] ?? ''));
  const store = {
    beat: async () => ({ isAlive: true, life: life() }),
    checkIn: async (worker: string) => {
      checkedIn.push(worker);
      return 0;
    },
  };
  const remembered = Object.assign(sent, { list: () => [] });
  const deps = { store, clock, leaseMs: LEASE_MS, name: 'host 1', sent: remembered, onMissing: () => {} };
  return { lease: new Lease('w', deps), clock, checkedIn, sent: remembered, deps };
}

test('a worker checks in as it begins: the reply may be to a second call, in another life than the first', async () => {
  const { lease, checkedIn } = aLease(['one']);
  await lease.start();
  await lease.stop();
  expect(checkedIn).toEqual(['w']);
});

test('a process that takes another lease checks in only where the life is another than it knew', async () => {
  const same = aLease(['one'], { life: 'one' });
  await same.lease.start();
  await same.lease.stop();
  expect(same.checkedIn).toEqual([]);

  const other = aLease(['two'], { life: 'one' });
  await other.lease.start();
  await other.lease.stop();
  expect(other.checkedIn).toEqual(['w']);
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

test('a worker that leaves in a new life of the server says before what it sent', async () => {
  const { lease, checkedIn } = aLease(['one', 'two'], { life: 'one' });
  await lease.start();
  expect(checkedIn).toEqual([]);
  await lease.stop();
  expect(checkedIn).toEqual(['w']);
});
