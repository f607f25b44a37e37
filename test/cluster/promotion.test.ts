import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/cluster/postgres/database.js';
import type { LeadKey, Store } from '../../src/cluster/store.js';
import { aRun, aWorker, readLife, readNews } from './a-run.js';
import { aDatabase } from './postgres-server.js';

let database: Database;
let store: Store;
let lead: LeadKey;
beforeEach(async () => {
  const cluster = await aDatabase();
  ({ database } = cluster);
  ({ store, lead } = await aRun(cluster));
  await (await aWorker(cluster, 'w')).claim(1);
});

/** What the next server finds: another timeline, and a worker that was at work and is gone. */
async function promote(): Promise<void> {
  const life = await readLife(store);
  await database.query("update volley.meta set timeline = '00000000'");
  await database.query("update volley.worker set lease_until = clock_timestamp() - interval '1 hour', lease = '0'");
  await database.query('truncate volley.life');
  expect(await readLife(store)).not.toBe(life);
}

/** 15 seconds on. */
async function confirm(sawSynchronous?: boolean): Promise<string> {
  await database.query("update volley.meta set promoted_at = promoted_at - interval '16 seconds'");
  return store.confirmLife(lead, sawSynchronous);
}

test('a worker that is lost with a server whose standby lacked commits stops the run', async () => {
  await promote();
  expect(await store.confirmLife(lead)).toBe('waiting');
  expect(await confirm()).toBe('lost');
});

test('it does not where the standby had every commit, though that was set while the server ran', async () => {
  await database.query('update volley.meta set is_synchronous = false');
  await database.query(
    "create or replace function volley.is_synchronous() returns boolean language sql as 'select true'",
  );
  await readNews(store, lead);
  await promote();
  expect(await store.confirmLife(lead, true)).toBe('same');
});

test.each([
  ['the leader saw that it had no such standby any more', async () => {}, false],
  ['two promotions followed one another', promote, undefined],
])('it does where the server said so, and %s', async (_, before, saw) => {
  await database.query(
    "create or replace function volley.is_synchronous() returns boolean language sql as 'select true'",
  );
  await database.query('update volley.meta set is_synchronous = true');
  await before();
  await promote();
  expect(await confirm(saw)).toBe('lost');
});

test('the clock of the server before may have been hours ahead', async () => {
  await database.query("update volley.worker set seen_at = seen_at + interval '3 hours'");
  await promote();
  expect(await confirm()).toBe('lost');
});
