import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/cluster/postgres/database.js';
import { gateOf } from '../../src/cluster/postgres/schema/life-functions.js';
import { type Store, StoreLost } from '../../src/cluster/store.js';
import {
  aPart,
  aRun,
  aWorker,
  type ClusterUnderTest,
  readLife,
  readNews,
  SETTLED,
} from './contract/cluster-under-test.js';
import { connectTo, openTestDatabase, openTestSession, type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
let url: string;
let cluster: Pick<ClusterUnderTest, 'connect'>;
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

test.each(['fast', 'immediate', 'kill'] as const)(
  'after a stop (%s) the server has a new life, and knows all that it confirmed',
  async (how) => {
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin({ request: 1 });
    await worker.begin({ request: 2 });
    await worker.end(SETTLED, { request: 2 });
    const before = await readLife(store);
    expect(await readLife(store)).toBe(before);
    await server.stop(how);
    await expect(readLife(store)).rejects.toThrow(StoreLost);
    await expect(worker.begin({ request: 1 })).rejects.toThrow(StoreLost);
    await expect(connectTo(url)).rejects.toThrow(StoreLost);
    await server.start();
    const after = await untilAnswered(() => readLife(store));
    expect(after).not.toBe(before);
    expect(await untilAnswered(() => readLife(worker.store))).toBe(after);
    expect(await readNews(store, lead)).toMatchObject({ underWay: 1, ended: [{ request: 2 }], life: after });
    expect(await store.confirmLife(lead)).toBe('waiting');
    expect(await worker.begin({ request: 1 })).toMatchObject({ refused: [], life: '' });
    await worker.checkIn();
    expect(await store.confirmLife(lead)).toBe('same');
    await Promise.all([store.close(), worker.store.close()]);
  },
);

test('a server process that crashes gives the others a new life too, though the server was not started anew', async () => {
  const store = await connectTo(url);
  const before = await readLife(store);
  await crashOneProcess(url);
  // Until the server notices, the others have the life that they had.
  let life = before;
  while (life === before) life = await untilAnswered(() => readLife(store));
  await store.close();
});

test('all who ask at once for the first time in a life get the same one', async () => {
  const stores: Store[] = await Promise.all(Array.from({ length: 8 }, () => connectTo(url)));
  const lives = await Promise.all(stores.map((store) => readLife(store)));
  expect(new Set(lives).size).toBe(1);
  await Promise.all(stores.map((store) => store.close()));
});

test('a call that the server ends is lost, without any effect, and may be repeated', async () => {
  const { store, lead } = await aRun(cluster);
  const database = openTestDatabase(url);
  const holder = await openTestSession(url);
  await holder.query(`begin; select pg_advisory_xact_lock(${gateOf("'run-a'")})`);
  const closing = expect(store.withdraw(lead)).rejects.toThrow(
    /^Lost the database .*: canceling statement due to user request$/,
  );
  for (let isEnded = false; !isEnded; ) {
    const [row] = await database.query(
      `select bool_or(pg_cancel_backend(pid)) as is_ended from pg_stat_activity
         where datname = current_database() and wait_event = 'advisory'`,
    );
    isEnded = row?.is_ended === true;
  }
  await closing;
  await holder.end();
  expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
  await store.withdraw(lead);
  await Promise.all([store.close(), database.close()]);
});

async function crashOneProcess(of: string): Promise<void> {
  const victim: Database = openTestDatabase(of);
  const [row] = await victim.query('select pg_backend_pid() as pid');
  process.kill(Number(row?.pid), 'SIGKILL');
  await victim.query('select 1').catch(() => {});
  await victim.close();
}
