import { expect, test } from 'vitest';
import { createCalls, createLease, LeaseLost } from '../../src/cluster/lease.js';
import type { SentCalls, Store } from '../../src/cluster/store.js';
import { FakeClock } from '../run/fake-clock.js';
import { MemoryCluster } from './memory-store.js';

const LEASE_MS = 30_000;

/** Of a process that has just come; `lives` of the server in which each beat finds it. */
function aLease(...lives: string[]) {
  const clock = new FakeClock();
  const memory = new MemoryCluster(clock).connect();
  const checkIns: (readonly [life: string | undefined, SentCalls])[] = [];
  let life = '';
  const store: Store = {
    ...memory,
    beat: async (_, about) => {
      if (about.sent === undefined) life = lives.shift() ?? life;
      else checkIns.push([about.life, about.sent]);
      return { isAlive: true, life };
    },
    append: async () => ({ refused: [], life }),
  };
  const calls = createCalls(store, clock);
  const lease = createLease('w', calls, { leaseMs: LEASE_MS, name: 'host 1' });
  const note = (worker: string, born: string) => calls.append({ worker, run: 'run-a', step: 1, epoch: 1 }, born, []);
  return { lease, clock, note, checkIns };
}

test('a worker checks in once to each life of the server, also as it leaves', async () => {
  for (const lives of [['one'], ['one', 'two']]) {
    const { lease, checkIns } = aLease(...lives);
    await lease.start();
    await lease.stop();
    expect(checkIns.map(([life]) => life)).toEqual(lives);
  }
});

test('it checks in with its last call under each lease of ten minutes, and the runs that it worked on', async () => {
  const { lease, clock, note, checkIns } = aLease('one', 'two');
  await lease.start();
  await note('long ago', 'a run');
  clock.jump({ wallMs: 600_001, steadyMs: 600_001 });
  await note('before', 'a run');
  await note('before', 'another');
  await lease.stop();
  const calls = [
    { worker: 'w', call: 0 },
    { worker: 'before', call: 3 },
  ];
  expect(checkIns[1]).toEqual(['two', { calls, births: ['a run', 'another'] }]);
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
