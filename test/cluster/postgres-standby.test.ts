import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/cluster/postgres/database.js';
import { checkDurability } from '../../src/cluster/postgres/schema/database-schema.js';
import { StoreLost } from '../../src/cluster/store.js';
import { aPart, aRun, aWorker, readLife, readNews, SETTLED } from './a-run.js';
import { connectTo, openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

let primary: PostgresServer;
let standby: PostgresServer;
let name: string;
let database: Database;
beforeAll(async () => {
  primary = await startPostgres();
  name = await primary.createVolleyDatabase();
  standby = await primary.startStandby();
  database = openTestDatabase(primary.url(name));
});

async function untilTrue(of: Database, condition: string): Promise<void> {
  for (;;) {
    const [row] = await of.query(`select ${condition} as is_so`);
    if (row?.is_so === true) return;
  }
}

test('a standby is lost until it is promoted; then a worker finds that it lacks calls, and the run stops', async () => {
  const connected = { connect: () => connectTo(primary.url(name)) };
  await untilTrue(database, 'exists (select from pg_stat_replication)');
  expect(await checkDurability(database)).toEqual([
    expect.stringContaining('standbys of the database are asynchronous'),
  ]);
  const { store, lead } = await aRun(connected, { parts: [aPart(1), aPart(2)] });
  const { born = '' } = (await store.findRun({})) ?? {};
  const worker = await aWorker(connected, 'w');
  await worker.claim(2);
  await worker.begin({ request: 1 });
  const life = await readLife(store);
  const following = openTestDatabase(standby.url(name));
  await untilTrue(following, 'exists (select from volley.part where request = 1 and attempt = 1)');
  await expect(connectTo(standby.url(name)).then((open) => readLife(open))).rejects.toThrow(StoreLost);

  // What follows does not arrive there.
  await following.query("alter system set primary_conninfo = ''");
  await following.query('select pg_reload_conf()');
  await untilTrue(following, 'not exists (select from pg_stat_wal_receiver)');
  await worker.end(SETTLED, { request: 1 });
  await worker.begin({ request: 2 });
  await primary.stop('immediate');
  await standby.promote();

  const after = await connectTo(standby.url(name));
  expect(await readLife(after)).not.toBe(life);
  expect(await readNews(after, lead)).toMatchObject({ ended: [] });
  expect(await after.confirmLife(lead)).toBe('waiting');
  // Also when no worker of before is known: one may have begun right before the promotion.
  await following.query('delete from volley.worker');
  expect(await after.confirmLife(lead)).toBe('waiting');
  const sent = { calls: [{ worker: 'w', call: 3 }], births: [born] };
  await after.beat('w', { name: 'host', leaseMs: 1, life: await readLife(after), sent });
  expect(await after.confirmLife(lead)).toBe('lost');
});
