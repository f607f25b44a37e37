import { expect, test } from 'vitest';
import { createLeader } from '../../src/cluster/leader.js';
import { readPlan } from '../../src/plan/format/plan-file.js';
import type { Clock } from '../../src/ports/clock.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aJob, people } from '../e2e/a-job.js';
import { aWorkspaceInProcess as aWorkspace } from '../e2e/a-workspace.js';
import { CLUSTER } from './a-cluster.js';
import { tick } from './a-hand.js';
import { MemoryCluster } from './memory-store.js';

const LEASE_MS = 30_000;

test('a leader that waits between two steps is known to live, until it leaves; one that was killed for as long as its lease', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(1));
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER }));
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  const plan = await readPlan(nodeFiles, directory);
  let nowMs = 1_795_000_000_000;
  const wakers: (() => void)[] = [];
  const clock: Clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        const untilMs = nowMs + delayMs;
        wakers.push(() => nowMs >= untilMs && resolve());
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const pass = async (ms: number) => {
    nowMs += ms;
    for (const wake of wakers) wake();
    await tick();
  };
  const cluster = new MemoryCluster(clock);
  const aLeader = (epoch: number, assertHeld = async () => {}) =>
    createLeader(
      {
        ...{ plan, settings: plan.job, sendHere: false, leaseMs: LEASE_MS, name: 'here', id: `process ${epoch}` },
        lock: { epoch, assertHeld },
      },
      { store: cluster.connect(), clock, createLane: () => Promise.reject(new Error('It sends')) as never },
    );

  const leader = aLeader(1);
  await leader.lead();
  for (let turn = 0; turn < 20; turn += 1) {
    await tick();
    expect(cluster.isLed(plan.id)).toBe(true);
    await pass(LEASE_MS / 3);
  }
  await leader.leave(true);
  expect(cluster.isLed(plan.id)).toBe(false);

  let isKilled = false;
  const killed = aLeader(2, async () => {
    if (isKilled) throw new Error('it is gone');
  });
  await killed.lead();
  await tick();
  isKilled = true;
  await pass(LEASE_MS / 3);
  expect(cluster.isLed(plan.id)).toBe(true);
  await pass(LEASE_MS);
  expect(cluster.isLed(plan.id)).toBe(false);
});
