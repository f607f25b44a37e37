import { beforeAll, expect, test } from 'vitest';
import { createPostgresStore } from '../../src/cluster/postgres/postgres-store.js';
import { aBegin, anEnd, aPart, aRun, aWorker, SETTLED } from './contract/cluster-under-test.js';
import { openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});

const REMEMBERED = 45_000;
/** Of them: the first, the last, and where a call may end. */
const LOST = [1, 20_000, 20_001, REMEMBERED];

test('a worker that was fast for minutes checks in, and what the database lacks among all of it is put back', async () => {
  const name = await server.createVolleyDatabase();
  const connect = () => createPostgresStore({ url: server.url(name) });
  const { store, lead } = await aRun(
    { connect, passTime: async () => {}, restart: async () => {} },
    { parts: LOST.map((request) => aPart(request)) },
  );
  const worker = await aWorker({ connect, passTime: async () => {}, restart: async () => {} }, 'w');
  const database = openTestDatabase(server.url(name));
  await database.query(
    `insert into volley.attempt (run, step, request, part, attempt, nonce, worker, outcome, ended)
     select 'run-a', 1, i, '', 1, 'of w', 'w', 'settled', i from generate_series(1, $1) i where i <> all ($2)`,
    [REMEMBERED, LOST],
  );
  await database.query('truncate volley.life');
  const remembered = Array.from({ length: REMEMBERED }, (_, index) => {
    const request = index + 1;
    return { run: 'run-a', begin: aBegin({ request }, 'of w'), end: anEnd(SETTLED, { request }, 'of w') };
  });

  for (let repeat = 0; repeat < 2; repeat += 1) {
    expect(await worker.store.checkIn('w', remembered)).toBe(LOST.length);
  }

  expect(await store.confirmLife(lead)).toBe('lost');
  expect(
    await database.query(
      "select request from volley.attempt where put_back is not null and outcome = 'settled' order by 1",
    ),
  ).toEqual(LOST.map((request) => ({ request })));
  await Promise.all([store.close(), worker.store.close(), database.close()]);
});
