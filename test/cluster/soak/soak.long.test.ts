import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { startPostgres } from '../postgres-server.js';
import { soakCluster } from './soak-cluster.js';

// The long form: npm run test:cluster
test('workers, leaders and the database may end at any moment: nothing is sent twice, nothing is lost', async () => {
  const server = await startPostgres();
  try {
    const { ended } = await soakCluster({ command: resolve('dist/cli.js'), kills: 3, seed: 3 }, server);
    expect(Object.values(ended).reduce((sum, count) => sum + count, 0)).toBe(3);
  } finally {
    await server.close();
  }
});
