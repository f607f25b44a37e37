import type { PartResult } from '../../journal/entry-format.js';
import { sameVerdictForAll } from '../../kinds/outcomes.js';
import { RUN_ENDED } from '../../registry/append-to-run.js';
import type { EndedAttempt, LeaderStore, LeadKey, LedPart, LedRun, RunNews } from '../store.js';
import type { Database } from './database.js';
import { dropRun } from './drop-run.js';

export function createLeaderStore(database: Database): LeaderStore {
  const call = <T>(name: string, { run, epoch }: LeadKey, ...values: readonly unknown[]) =>
    database.call<T>(name, run, epoch, ...values);
  return {
    lead: async (key, { leader, job, digest }) => {
      const [led] = await call<Omit<LedRun, 'parts'>>('lead', key, leader, job, digest);
      const parts = await database.query(
        `select step, request, part, state, state = 'done' and ended is null as "isTaken"
           from volley.part where run = $1 order by step, request, part`,
        [key.run],
      );
      return { ...(led as Omit<LedRun, 'parts'>), parts: parts as unknown as LedPart[] };
    },
    openStep: async (key, { step, provisionedIds, onLost }) => {
      await call('open_step', key, step, provisionedIds, onLost);
    },
    handOver: async (key, parts) => {
      const heads = JSON.stringify(parts.map(({ body: _, ...part }) => part));
      const bodies = parts.map(({ body }) => body);
      await call('hand_over', key, heads, bodies);
    },
    renewLead: async (key, { leaseMs, seenAtMs }) => {
      await call('renew_lead', key, leaseMs, seenAtMs);
    },
    readNews: async (key, { limit, taken = [] }) => {
      const rows = await call<{ readNews: unknown }>('read_news', key, limit, taken);
      const [news, ...ended] = rows.map(({ readNews }) => readNews);
      return { ...(news as RunNews), ended: (ended as EndedRow[]).map(toEnded) };
    },
    takeBack: (key, parts) => call('take_back', key, JSON.stringify(parts)),
    confirmLife: async (key, sawSynchronous) => {
      const [row] = await call<{ confirmLife: 'same' | 'waiting' | 'lost' }>(
        'confirm_life',
        key,
        sawSynchronous ?? null,
      );
      return row?.confirmLife ?? 'waiting';
    },
    drop: (key) => dropRun(database, key),
  };
}

/** No result: its worker was lost. */
type EndedRow = Omit<EndedAttempt, 'result'> & {
  readonly outcome: PartResult['kind'];
  readonly result: PartResult | null;
};

/** Of a lost one what `endInFlight` says of a request whose process has died. */
function toEnded({ outcome, result, ...ended }: EndedRow): EndedAttempt {
  if (result !== null) return { ...ended, result };
  return outcome === 'again'
    ? { ...ended, result: { kind: 'again', why: 'the run ended before the answer came' } }
    : { ...ended, result: { kind: 'settled', outcomes: sameVerdictForAll(ended.rows[1], RUN_ENDED) } };
}
