import type { PartResult } from '../../journal/entry-format.js';
import { sameVerdictForAll } from '../../kinds/outcomes.js';
import { RUN_ENDED } from '../../registry/append-to-run.js';
import type { ClaimedPart, EndedAttempt, LedPart, RunNews, Store } from '../store.js';
import { type Database, openDatabase, parseDatabaseUrl } from './database.js';
import { checkDurability, checkSchema } from './schema/database-schema.js';
import { NOW_MS } from './schema/worker-functions.js';
import { dropRun } from './status-and-drop.js';

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
  return storeOver(database);
}

type Answer<Method extends keyof Store> = Awaited<ReturnType<Store[Method]>>;

/** Columns have the names of what is answered, and most calls are a function of the schema. */
function storeOver(database: Database): Store {
  const { query, call } = database;
  const callOne = async <T>(name: string, ...values: readonly unknown[]) => (await call<T>(name, ...values))[0] as T;
  return {
    readServer: async () => {
      const [moment] = await query<Answer<'readServer'>>(
        `select volley.present_life() as life, ${NOW_MS} as "atMs", volley.is_synchronous() as "isSynchronous"`,
      );
      return moment as Answer<'readServer'>;
    },
    standBy: async (process, job) => {
      await query(
        `with ended as (delete from volley.standby where seen_at < clock_timestamp() - interval '1 day' and process <> $1)
         insert into volley.standby values ($1, $2, clock_timestamp())
           on conflict (process) do update set job = excluded.job, seen_at = excluded.seen_at`,
        [process, job],
      );
    },
    close: () => database.close(),

    lead: async ({ run, epoch }, { leader, job, digest }) => {
      const led = await callOne<Omit<Answer<'lead'>, 'parts'>>('lead', run, epoch, leader, job, digest);
      const parts = await query<LedPart>(
        `select step, request, part, state, state = 'done' and ended is null as "isTaken"
           from volley.part where run = $1 order by step, request, part`,
        [run],
      );
      return { ...led, parts };
    },
    openStep: async ({ run, epoch }, { step, provisionedIds, onLost }) => {
      await call('open_step', run, epoch, step, provisionedIds, onLost);
    },
    handOver: async ({ run, epoch }, parts) => {
      const heads = JSON.stringify(parts.map(({ body: _, ...part }) => part));
      const bodies = parts.map(({ body }) => body);
      await call('hand_over', run, epoch, heads, bodies);
    },
    renewLead: async ({ run, epoch }, { leaseMs, seenAtMs }) => {
      await call('renew_lead', run, epoch, leaseMs, seenAtMs);
    },
    readNews: async ({ run, epoch }, { limit, taken = [] }) => {
      const rows = await call<{ readNews: unknown }>('read_news', run, epoch, limit, taken);
      const [news, ...ended] = rows.map(({ readNews }) => readNews);
      return { ...(news as RunNews), ended: (ended as EndedRow[]).map(toEnded) };
    },
    takeBack: ({ run, epoch }, parts) => call('take_back', run, epoch, JSON.stringify(parts)),
    confirmLife: async ({ run, epoch }, sawSynchronous) => {
      const { confirmLife } = await callOne<{ confirmLife: Answer<'confirmLife'> }>(
        'confirm_life',
        ...[run, epoch, sawSynchronous],
      );
      return confirmLife;
    },
    drop: (key) => dropRun(database, key),

    beat: (worker, { name, leaseMs, life, sent }) =>
      callOne('beat', worker, name, leaseMs, life, sent && JSON.stringify(sent.calls), sent?.births),
    findRun: async ({ run, job }) => {
      const [found] = await query<Answer<'findRun'>>(
        `select id as run, born, epoch::float8, digest, volley.is_claimable(r, step, present) as "isOpen", coalesce(step, 0) as step,
             provisioned_ids as "provisionedIds"
           from volley.run r, volley.present_life() as present
           where id = coalesce($1, id) and job = coalesce($2, job)
           order by "isOpen" desc, exists (select from volley.part p where p.run = r.id and p.step = r.step and p.state = 'open') desc,
             random()
           limit 1`,
        [run, job],
      );
      return found;
    },
    claim: async ({ worker, run, step, epoch }, { count, holding }) => {
      const rows = await call<ClaimedRow>('claim', worker, run, step, epoch, count, JSON.stringify(holding));
      const parts = rows.filter(({ request }) => request !== null);
      return {
        parts: parts.map(({ isOpen: _, nonce, ...part }) => ({ ...part, nonce: nonce ?? undefined })),
        isOpen: rows[0]?.isOpen === true,
      };
    },
    append: ({ worker, run, step }, entries, number) => {
      // The result is a text of its own: in JSON of the server no character may be NUL, and an answer of the service may be in it.
      const written = entries.map((entry) =>
        entry.type === 'begin' ? entry : { ...entry, outcome: entry.result.kind, result: JSON.stringify(entry.result) },
      );
      return callOne('append', worker, number, run, step, JSON.stringify(written));
    },
    recover: async (leaving) => {
      await call('recover', leaving);
    },
    askToStop: async ({ run, epoch }, stop) => {
      // An answer of the service may be in it, and no text of PostgreSQL has a NUL.
      await query(
        `update volley.run set stop = $3 from volley.present_life() where id = $1 and epoch = $2 and stop is null`,
        [run, epoch, JSON.stringify({ ...stop, detail: stop.detail.replaceAll('\u0000', '') })],
      );
    },

    book: (lane, { costsMs, urgent, slackMs, leadMs, slowed, succeeded, leastShare, pauseMs }) =>
      callOne('book', lane, costsMs, urgent, slackMs, leadMs, slowed, succeeded, leastShare, pauseMs),
  };
}

/** No request: there is nothing to claim. */
type ClaimedRow = Omit<ClaimedPart, 'nonce'> & { readonly isOpen: boolean; readonly nonce: string | null };

/** An end as the database has it; without a result, its worker was lost. */
type EndedRow = Omit<EndedAttempt, 'result'> & {
  readonly outcome: PartResult['kind'];
  readonly result: PartResult | null;
};

/** Gives an attempt whose worker was lost the result that `endInFlight` gives to a request whose process has died. */
function toEnded({ outcome, result, ...ended }: EndedRow): EndedAttempt {
  if (result !== null) return { ...ended, result };
  return outcome === 'again'
    ? { ...ended, result: { kind: 'again', why: 'the run ended before the answer came' } }
    : { ...ended, result: { kind: 'settled', outcomes: sameVerdictForAll(ended.rows[1], RUN_ENDED) } };
}
