import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/cluster/postgres/database.js';
import { parseDatabaseUrl } from '../../src/cluster/postgres/database-url.js';
import { createPostgresStore } from '../../src/cluster/postgres/postgres-store.js';
import { initSchema } from '../../src/cluster/postgres/schema/database-schema.js';
import { type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres('fsync=off');
});
afterAll(() => server.close());

test('a request goes from the leader to a worker, and its results come back', async () => {
  const url = server.url(await server.createDatabase());
  const database = openDatabase(await parseDatabaseUrl(url));
  expect(await initSchema(database)).toEqual({ from: 0, to: 1 });
  await database.close();
  const store = await createPostgresStore({ url });
  const lead = { run: 'r', epoch: 1 };
  expect(await store.lead(lead, '{}')).toEqual({ isNew: true, isNewLife: false, parts: [] });
  await store.openStep(lead, { step: 1, provisionedIds: ['a"b', ''], onLost: 'in-doubt' });
  const head = { request: 1, first: 0, rows: 2, messages: 2, segments: 2 };
  const key = { step: 1, request: 1, part: '' };
  await store.handOver(lead, [{ ...key, rows: [0, 2], head, body: Buffer.from('{"a":1}'), isInFlight: false }]);
  expect(await store.beat('w', { name: 'host', leaseMs: 60_000 })).toMatchObject({ isAlive: true });
  expect(await store.findRun({})).toEqual({ run: 'r', job: '{}', step: 1, provisionedIds: ['a"b', ''] });
  const worker = { worker: 'w', run: 'r', step: 1 };
  const { parts } = await store.claim(worker, { count: 2, holding: [] });
  expect(parts).toMatchObject([{ ...key, rows: [0, 2], head, body: Buffer.from('{"a":1}'), attempt: 0 }]);
  const again = { kind: 'again', why: 'x\u0000"\\,{}' } as const;
  const split = { kind: 'split', why: 'refused' } as const;
  const refused = await store.append(worker, [
    { type: 'begin', ...key, attempt: 1, nonce: 'a' },
    { type: 'end', ...key, attempt: 1, nonce: 'a', result: again, halves: [] },
    { type: 'begin', ...key, attempt: 2, nonce: 'b' },
    {
      ...{ type: 'end', ...key, attempt: 2, nonce: 'b', result: split },
      halves: [
        { part: '0', rows: [0, 1] },
        { part: '1', rows: [1, 1] },
      ],
    },
  ]);
  expect(refused).toEqual({ refused: [] });
  const news = await store.readNews(lead, 10);
  expect(news).toMatchObject({ ended: [{ result: again }, { result: split }], open: 0, claimed: 2, underWay: 0 });
  await store.noteTaken(lead, news.ended);
  expect((await store.readNews(lead, 10)).ended).toEqual([]);
  await store.drop(lead);
  expect(await store.hasRuns({})).toBe(false);
  await store.close();
});
