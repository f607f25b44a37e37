import { beforeAll, beforeEach, expect, test } from 'vitest';
import { StoreLost } from '../../src/cluster/store.js';
import { aPart, aRun, aWorker, readLife, readNews, SETTLED, type Server } from './a-run.js';
import { connectTo, openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
let url: string;
let cluster: Server;
beforeAll(async () => {
  server = await startPostgres();
});
beforeEach(async () => {
  url = server.url(await server.createVolleyDatabase());
  cluster = { connect: () => connectTo(url) };
});

/** Repeats a call as workers do. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreLost)) throw error;
    }
  }
}

test('after a crash the server has a new life, and knows all that it confirmed', async () => {
  const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
  const worker = await aWorker(cluster, 'w');
  await worker.claim(2);
  await worker.begin({ request: 1 });
  await worker.begin({ request: 2 });
  await worker.end(SETTLED, { request: 2 });
  const before = await readLife(store);
  await server.stop('kill');
  await expect(worker.begin({ request: 1 })).rejects.toThrow(StoreLost);
  await server.start();
  const after = await untilAnswered(() => readLife(store));
  expect(after).not.toBe(before);
  expect(await untilAnswered(() => readLife(worker.store))).toBe(after);
  expect(await readNews(store, lead)).toMatchObject({ ended: [{ request: 2 }], life: after });
  expect(await store.confirmLife(lead)).toBe('waiting');
  expect(await worker.begin({ request: 1 })).toMatchObject({ refused: [], life: '' });
  await worker.checkIn();
  expect(await store.confirmLife(lead)).toBe('same');
});

test('a server process that crashes gives the others a new life too, though the server was not started anew', async () => {
  const store = await connectTo(url);
  const before = await readLife(store);
  const victim = openTestDatabase(url);
  const [row] = await victim.query('select pg_backend_pid() as pid');
  process.kill(Number(row?.pid), 'SIGKILL');
  await victim.query('select 1').catch(() => {});
  // Until the server notices, the others have the life that they had.
  let life = before;
  while (life === before) life = await untilAnswered(() => readLife(store));
});
