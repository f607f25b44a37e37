import type { Store } from '../store.js';
import { checkDurability } from './check-durability.js';
import { openDatabase } from './database.js';
import { parseDatabaseUrl } from './database-url.js';
import { createLeaderStore } from './leader-store.js';
import { checkSchema } from './schema/database-schema.js';
import { createWorkerStore } from './worker-store.js';

export interface StoreOptions {
  readonly url: string;
  /** Gives it again for each connection, with the password that it has by then. */
  readonly readUrl?: () => Promise<string>;
  /** What a person should know of the database. */
  readonly onNotice?: (text: string) => void;
  /** For tests that are not about crashes: does not refuse `fsync=off`. */
  readonly mayForget?: boolean;
}

/** Connects, and refuses a database without the schema of this build (`volley cluster init`), or that forgets. */
export async function createPostgresStore({
  url,
  readUrl = async () => url,
  onNotice,
  mayForget = false,
}: StoreOptions): Promise<Store> {
  const config = await parseDatabaseUrl(url);
  const readPassword = async () => (await parseDatabaseUrl(await readUrl())).password as string;
  const database = openDatabase({ ...config, password: () => readPassword().catch(() => config.password as string) });
  try {
    await checkSchema(database);
    if (!mayForget) for (const notice of await checkDurability(database)) onNotice?.(notice);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    ...createLeaderStore(database),
    ...createWorkerStore(database),
    readServer: async () => {
      const [row] = await database.query(
        'select volley.present_life() as life, volley.now_ms() as now_ms, volley.is_synchronous() as is_synchronous',
      );
      return {
        life: row?.life as string,
        atMs: row?.now_ms as number,
        isSynchronous: row?.is_synchronous === true,
      };
    },
    book: async (lane, { costsMs, isUrgent, slowed, succeeded, leastShare, pauseMs }) => {
      const [row] = await database.query('select * from volley.book($1, $2, $3, $4, $5, $6, $7)', [
        lane,
        costsMs,
        isUrgent,
        slowed,
        succeeded,
        leastShare,
        pauseMs,
      ]);
      return {
        nowMs: row?.now_ms as number,
        inMs: row?.in_ms as number[],
        againInMs: row?.again_in_ms as number,
        share: row?.share as number,
        pausedForMs: row?.paused_for_ms as number,
      };
    },
    close: () => database.close(),
  };
}
