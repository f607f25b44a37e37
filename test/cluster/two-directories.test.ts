import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aCluster, aClusterInMemory, CLUSTER } from './a-cluster.js';

const FAST = { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 };

test('of two processes that begin the same plan in two directories at once, the second is refused and the first sends all', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  const job = aJob(workspace, { cluster: CLUSTER, steps: [anSmsStep({ limits: FAST })] });
  workspace.writeJob(job);
  workspace.write('other.yaml', JSON.stringify({ ...job, output: 'elsewhere' }));
  const { cluster, run } = aClusterInMemory(workspace);
  const other = aCluster(workspace, undefined, 'other.yaml');
  const connect = { loadStore: async () => cluster.connect() };

  const ends = await Promise.allSettled([run(), other.run(connect)]);

  expect(ends).toContainEqual({ status: 'fulfilled', value: 0 });
  expect(ends).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ code: 'registry-mismatch', message: expect.stringContaining('another leader') }),
  });
  expect(await workspace.destinations()).toEqual(numbersOf(300));
});
