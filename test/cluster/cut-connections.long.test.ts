import { beforeAll, expect, test } from 'vitest';
import { anSmsStep, numbersOf } from '../e2e/a-job.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { startDatabaseProxy } from './database-proxy.js';
import { type PostgresServer, startPostgres } from './postgres-server.js';

const STEPS = [anSmsStep({ limits: { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 } })];
const OF_LEADER = ['lead', 'open_step', 'hand_over', 'read_news', 'drop_run'];
const OF_WORKER = ['beat', 'is_claimable', 'claim', 'append', 'book', 'with gone'];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});

const CUTS = ['before', 'reply'] as const;

test.each(CUTS)('a leader whose connection is cut once at each statement (%s) sends each row once', async (when) => {
  const { workspace, database } = await aStory();
  const proxy = await startDatabaseProxy(
    server.directory,
    OF_LEADER.map((statement) => ({ statement, when, nth: 1 })),
  );
  const { run, work } = aCluster(workspace, server.url(database));
  const worker = work();

  expect(await run({}, proxy.url(database))).toBe(0);
  expect(await worker.ended).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(120));
  expect(proxy.left()).toEqual([]);
  await proxy.close();
});

test.each(CUTS)('a worker whose connection is cut once at each statement (%s) sends each row once', async (when) => {
  const { workspace, database } = await aStory();
  // The second: then requests are under way.
  const proxy = await startDatabaseProxy(
    server.directory,
    OF_WORKER.map((statement) => ({ statement, when, nth: statement === 'append' ? 2 : 1 })),
  );
  const { run } = aCluster(workspace, server.url(database));
  const worker = aCluster(workspace, proxy.url(database)).work();

  expect(await run()).toBe(0);
  expect(await worker.ended).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(120));
  expect(proxy.left()).toEqual([]);
  await proxy.close();
});

/** A run whose leader leaves the sending to a worker. */
async function aStory() {
  const workspace = await aJobOf(120, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS });
  return { workspace, database: await server.createVolleyDatabase() };
}
