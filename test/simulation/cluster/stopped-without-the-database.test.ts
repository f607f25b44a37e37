import { expect, test } from 'vitest';
import { simulateCluster } from './simulate-cluster.js';

test('a step that runs once more while its run stops waits for a database that loses a call', async () => {
  expect((await simulateCluster(72_862)).requests).toBeGreaterThan(0);
});
