import { expect, test } from 'vitest';
import { anSmsStep } from '../e2e/a-job.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand, tick } from './a-hand.js';
import { NEW_LEAD } from './contract/cluster-under-test.js';
import type { BreakCall } from './memory-store.js';

/** Of a leader that lives, and a call of it that hung on the way and takes effect behind later ones. */
async function aLedRun(onCall?: BreakCall) {
  const steps = [anSmsStep({ batchSize: 1 })];
  const workspace = await aJobOf(2, { cluster: { ...CLUSTER, sendHere: false }, steps });
  const { cluster, lead } = aClusterInMemory(workspace);
  const store = cluster.connect();
  const leading = lead(onCall);
  const hand = await aHand(store, 1);
  return { cluster, store, leading, hand, key: { run: hand.run, epoch: hand.epoch } };
}

test('a `lead` that arrives late closes the step, and its leader opens it again', async () => {
  const { cluster, store, leading, hand, key } = await aLedRun();
  await hand.begin();
  await store.lead(key, { ...NEW_LEAD, leader: cluster.leaderOf(key.run) });
  expect(await store.findRun({})).toBeUndefined();

  const other = await aHand(store, 1);
  for (const one of [hand, other]) await one.settle();
  await other.begin();
  await other.settle();

  expect(await leading.ended).toBe(0);
});

test('an `openStep` that arrives late opens a step that its leader has closed, and it closes it again', async () => {
  const { cluster, store, leading, hand, key } = await aLedRun();
  await hand.begin();
  leading.stop();
  while ((await store.findRun({})) !== undefined) await tick();
  await store.openStep(key, { step: 1, provisionedIds: [], onLost: 'in-doubt' });
  while ((await store.findRun({})) !== undefined) await tick();
  await hand.settle();

  expect(await leading.ended).toBe(75);
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});

test('a leader that is to stop takes nothing back in a new life of the server until its workers have checked in', async () => {
  let withdrawals = 0;
  const { cluster, leading, hand } = await aLedRun((method) => {
    if (method === 'withdraw') withdrawals += 1;
    return undefined;
  });
  await hand.begin();
  cluster.restart({ losesCommits: true });
  leading.stop();
  const untilItWaits = async () => {
    while (withdrawals < 3) await tick();
    return 'waits';
  };

  expect(await Promise.race([leading.ended, untilItWaits()])).toBe('waits');
  await hand.checkIn();
  await expect(leading.ended).rejects.toMatchObject({ code: 'registry-mismatch' });
  expect(cluster.count()).toMatchObject({ parts: 2 });
});
