import { expect, test } from 'vitest';
import { anSmsStep } from '../e2e/a-job.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import { tick } from './a-hand.js';

test.each([
  ['requests', { requestsPerSecond: 10, messagesPerSecond: 25_000, concurrency: 2 }, 150],
  ['messages', { requestsPerSecond: 1000, messagesPerSecond: 40, concurrency: 2 }, 299],
  ['requests, however slow they are', { requestsPerSecond: 0.01, messagesPerSecond: 25_000, concurrency: 2 }, 2],
])('workers have what the limit of %s sends in a lease, to continue without the leader', async (_, limits, parts) => {
  const cluster = { ...CLUSTER, sendHere: false, leaseSeconds: 15 };
  const workspace = await aJobOf(1000, { cluster, steps: [anSmsStep({ batchSize: 2, limits })] });
  const { cluster: database, lead } = aClusterInMemory(workspace);
  let looks = 0;
  const leader = lead((method) => {
    if (method === 'readNews') looks += 1;
    return undefined;
  });
  // As often as it takes to hand over all that there is.
  while (looks < 12) await tick();

  expect(database.count()).toMatchObject({ parts, attempts: 0 });
  leader.stop();
  expect(await leader.ended).toBe(75);
});
