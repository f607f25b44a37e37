import { expect, test } from 'vitest';
import { simulateCluster } from './simulate-cluster.js';

test('a request that was in flight when its run came to a new database is asked about, also after a leader that died before it had handed it over', async () => {
  expect((await simulateCluster(30_835)).requests).toBeGreaterThan(0);
});

test('a step without rows that a process began is ended in the journal by the next one, though that is stopped as it waits for workers', async () => {
  expect((await simulateCluster(42_939)).requests).toBeGreaterThan(0);
});
