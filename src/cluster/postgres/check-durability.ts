import { UserError } from '../../domain/errors.js';
import type { Database } from './database.js';

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
