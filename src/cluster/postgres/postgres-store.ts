import { UserError } from '../../domain/errors.js';
import type { BookedTurns, ServerMoment, Store } from '../store.js';
import { type Database, openDatabase } from './database.js';
import { parseDatabaseUrl } from './database-url.js';
import { createLeaderStore } from './leader-store.js';
import { checkSchema } from './schema/database-schema.js';
import { NOW_MS } from './schema/life-functions.js';
import { createWorkerStore } from './worker-store.js';

/**
 * Connects, and refuses a database without the schema of this build (`volley cluster init`), or that forgets. `readUrl` is asked again for each
 * connection, for the password that it has by then. `onNotice`: what a person should know of the database.
 */
export async function createPostgresStore(
  readUrl: () => Promise<string>,
  onNotice: (text: string) => void,
): Promise<Store> {
  const config = await parseDatabaseUrl(await readUrl());
  const readPassword = async () => (await parseDatabaseUrl(await readUrl())).password as string;
  const password = () => readPassword().catch(() => config.password as string);
  const database = openDatabase({ ...config, password }, true);
  try {
    await checkSchema(database);
    for (const notice of await checkDurability(database)) onNotice(notice);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    ...createLeaderStore(database),
    ...createWorkerStore(database),
    readServer: async () => {
      const [moment] = await database.query(
        `select volley.present_life() as life, ${NOW_MS} as "atMs", volley.is_synchronous() as "isSynchronous"`,
      );
      return moment as unknown as ServerMoment;
    },
    book: async (lane, { costsMs, urgent, slackMs, leadMs, slowed, succeeded, leastShare, pauseMs }) => {
      const [booked] = await database.call<BookedTurns>(
        'book',
        ...[lane, costsMs, urgent, slackMs, leadMs, slowed, succeeded, leastShare, pauseMs],
      );
      return booked as BookedTurns;
    },
    standBy: async (process, job) => {
      await database.query(
        `with ended as (delete from volley.standby where seen_at < clock_timestamp() - interval '1 day' and process <> $1)
         insert into volley.standby values ($1, $2, clock_timestamp())
           on conflict (process) do update set job = excluded.job, seen_at = excluded.seen_at`,
        [process, job],
      );
    },
    close: () => database.close(),
  };
}

/**
 * Refuses a database that says "committed" of what a crash takes back: an attempt would be sent again. Returns what a person
 * should know: a standby that lacks the last commits can take over.
 */
export async function checkDurability(database: Database): Promise<readonly string[]> {
  const [settings] = await database.query(
    `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
       current_setting('synchronous_standby_names') = '' and exists (select from pg_stat_replication) as is_asynchronous`,
  );
  if (settings?.fsync === 'off') throw forgetful('fsync is off', 'on');
  if (settings?.full_page_writes === 'off') throw forgetful('full_page_writes is off', 'on');
  return settings?.is_asynchronous === true
    ? [
        'the standbys of the database are asynchronous: when one is promoted, the last commits are lost, ' +
          'and runs stop where a worker knows of an attempt that the database does not',
      ]
    : [];
}

function forgetful(what: string, expected: string): UserError {
  return new UserError('unsafe-environment', `Cannot use the database: its ${what}, expected ${expected}`, {
    hint: 'After a crash it would not know what was sent, and it would be sent again.',
  });
}
