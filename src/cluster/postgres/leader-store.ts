import type { PartResult, RequestKey } from '../../journal/entry-format.js';
import { sameVerdictForAll } from '../../kinds/outcomes.js';
import { RUN_ENDED } from '../../registry/append-to-run.js';
import type { EndedAttempt, HandedPart, LeaderStore, LeadKey, LedPart, WithdrawnPart } from '../store.js';
import type { Database } from './database.js';
import { dropRun } from './drop-run.js';

/** A call carries no more than this of parts, so that none takes long. */
const MAX_PARTS = 1000;
const MAX_BYTES = 8_000_000;

export function createLeaderStore(database: Database): LeaderStore {
  const call = async (name: string, key: LeadKey, values: readonly unknown[] = []) => {
    const all = [key.run, key.epoch, ...values];
    return database.query(`select * from volley.${name}(${all.map((_, index) => `$${index + 1}`)})`, all);
  };
  return {
    lead: async (key, { leader, job, digest }) => {
      let [led] = await call('lead', key, [leader, job, digest]);
      if (led?.is_dropped === true) {
        await dropRun(database, key);
        [led] = await call('lead', key, [leader, job, digest]);
      }
      const parts = await database.query(
        `select step, request, part, state, state = 'done' and not exists (
             select from volley.attempt a where (a.run, a.step, a.request, a.part) = (p.run, p.step, p.request, p.part)
               and a.attempt = p.attempt and is_untaken
           ) as "isTaken"
         from volley.part p where run = $1 and state <> 'withdrawn' order by step, request, part`,
        [key.run],
      );
      return {
        born: led?.born as string,
        isNew: led?.is_new === true,
        isNewLife: led?.is_new_life === true,
        parts: parts as unknown as LedPart[],
      };
    },
    openStep: async (key, { step, provisionedIds, onLost }) => {
      await call('open_step', key, [step, provisionedIds, onLost]);
    },
    handOver: async (key, parts) => {
      for (const piece of inPieces(parts)) {
        await call('hand_over', key, [
          ...keyColumns(piece),
          piece.map(({ rows }) => rows[0]),
          piece.map(({ rows }) => rows[1]),
          piece.map(({ isInFlight }) => isInFlight),
          piece.map(({ head }) => JSON.stringify(head)),
          piece.map(({ body }) => body),
        ]);
      }
    },
    readNews: async (key, { limit, leaseMs, seenAtMs, taken = [] }) => {
      const rows = await call('read_news', key, [
        ...[leaseMs, seenAtMs, limit, ...keyColumns(taken)],
        taken.map(({ attempt }) => attempt),
      ]);
      const [state] = rows;
      return {
        ended: rows.filter(({ request }) => request !== null).map((row) => readEnded(row as unknown as EndedRow)),
        openStep: (state?.open_step ?? undefined) as number | undefined,
        open: Number(state?.open),
        claimed: Number(state?.claimed),
        underWay: Number(state?.under_way),
        workers: Number(state?.workers),
        stop:
          typeof state?.stop_reason === 'string'
            ? { reason: state.stop_reason, detail: state.stop_detail as string }
            : undefined,
        life: state?.life as string,
        isConfirmed: state?.is_confirmed === true,
        atMs: state?.now_ms as number,
        isSynchronous: state?.is_synchronous === true,
      };
    },
    withdraw: async (key) => {
      const parts = await call('withdraw', key);
      return parts.map(({ is_in_flight, ...part }) => ({ ...part, isInFlight: is_in_flight }) as WithdrawnPart);
    },
    confirmLife: async (key, sawSynchronous) => {
      const [row] = await call('confirm_life', key, [sawSynchronous ?? null]);
      return row?.confirm_life as 'same' | 'waiting' | 'lost';
    },
    drop: (key) => dropRun(database, key),
  };
}

interface EndedRow extends RequestKey {
  readonly attempt: number;
  readonly first_row: number;
  readonly row_count: number;
  readonly outcome: PartResult['kind'];
  readonly result: string | null;
  readonly at: number;
}

function readEnded(row: EndedRow): EndedAttempt {
  const { step, request, part, attempt, first_row, row_count } = row;
  const rows: EndedAttempt['rows'] = [first_row, row_count];
  const result = row.result === null ? resultOfLost(row.outcome, row_count) : (JSON.parse(row.result) as PartResult);
  return { step, request, part, attempt, rows, result, at: Math.round(row.at) };
}

/** What `endInFlight` says of a request whose process has died. */
function resultOfLost(outcome: PartResult['kind'], rows: number): PartResult {
  return outcome === 'again'
    ? { kind: 'again', why: 'the run ended before the answer came' }
    : { kind: 'settled', outcomes: sameVerdictForAll(rows, RUN_ENDED) };
}

function keyColumns(keys: readonly RequestKey[]): unknown[] {
  return [keys.map(({ step }) => step), keys.map(({ request }) => request), keys.map(({ part }) => part)];
}

function* inPieces(parts: readonly HandedPart[]): Generator<HandedPart[]> {
  let piece: HandedPart[] = [];
  let bytes = 0;
  for (const part of parts) {
    if (piece.length === MAX_PARTS || (piece.length > 0 && bytes + part.body.length > MAX_BYTES)) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(part);
    bytes += part.body.length;
  }
  if (piece.length > 0) yield piece;
}
