import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';
import type { BreakCall } from './memory-store.js';

const STEPS = [anSmsStep({ limits: { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 } })];

test.each(['before', 'after'] as const)('calls that are lost %s they take effect change nothing', async (when) => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(200));
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS }));
  const { cluster, run, work } = aClusterInMemory(workspace);
  let calls = 0;
  const everyFifth: BreakCall = (method) => {
    if (method.endsWith('reply')) return undefined;
    calls += 1;
    return calls % 5 === 0 ? when : undefined;
  };
  const workers = [work(everyFifth), work(everyFifth)];

  expect(await run(everyFifth)).toBe(0);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(200));
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});
