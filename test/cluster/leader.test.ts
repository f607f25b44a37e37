import { expect, test } from 'vitest';
import { createLeader } from '../../src/cluster/leader.js';
import { readPlan } from '../../src/plan/format/plan-file.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aJob, people } from '../e2e/a-job.js';
import { aWorkspaceInProcess as aWorkspace } from '../e2e/a-workspace.js';
import { Timeline } from '../world/timeline.js';
import { CLUSTER } from './a-cluster.js';
import { tick } from './a-hand.js';
import { clockOf } from './lanes-on-a-timeline.js';
import { MemoryCluster } from './memory-store.js';

const LEASE_MS = 30_000;

test('a leader that waits between two steps is known to live, also behind calls that were lost, until it leaves; one that was killed for as long as its lease', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(1));
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER }));
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  const plan = await readPlan(nodeFiles, directory);
  const timeline = new Timeline(() => 0.5);
  const clock = clockOf(timeline);
  const pass = async (ms: number) => {
    await tick();
    let isOver = false;
    timeline.schedule(ms, () => {
      isOver = true;
    });
    await timeline.runUntil(() => isOver);
  };
  const cluster = new MemoryCluster(clock);
  const lost = new Set<string>();
  const store = cluster.connect((call) => (lost.delete(call) ? 'before' : undefined));
  let isKilled = false;
  const assertHeld = async () => {
    if (isKilled) throw new Error('it is gone');
  };
  const aLeader = (epoch: number) =>
    createLeader({
      ...{ plan, settings: plan.job, sendHere: false, leaseMs: LEASE_MS, name: 'here', id: `process ${epoch}` },
      ...{ store, clock, createLane: () => Promise.reject(new Error('It sends')) as never },
      lock: { epoch, assertHeld },
    });

  const leader = aLeader(1);
  await leader.lead();
  await pass(20 * LEASE_MS);
  expect(cluster.isLed(plan.id)).toBe(true);
  for (const call of ['readServer', 'renewLead']) {
    lost.add(call);
    await pass(3 * LEASE_MS);
    expect([lost.size, cluster.isLed(plan.id)], call).toEqual([0, true]);
  }
  const leaving = leader.leave(true);
  await pass(LEASE_MS / 3);
  await leaving;
  expect(cluster.isLed(plan.id)).toBe(false);

  await aLeader(2).lead();
  await pass(LEASE_MS);
  isKilled = true;
  await pass(LEASE_MS / 3);
  expect(cluster.isLed(plan.id)).toBe(true);
  await pass(LEASE_MS);
  expect(cluster.isLed(plan.id)).toBe(false);
});
