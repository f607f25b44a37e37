import type { RequestHead } from '../../plan/format/plan-file.js';
import type { BeginEntry, ClaimedPart, EndEntry, RememberedAttempt, WorkerStore, WorkingRun } from '../store.js';
import type { Database } from './database.js';

/** Each call takes a small part of the time that a statement may. */
const LOOKED_UP_AT_ONCE = 20_000;
const PUT_BACK_AT_ONCE = 1000;

export function createWorkerStore(database: Database): WorkerStore {
  const call = async (name: string, values: readonly unknown[]) => {
    const places = values.map((_, index) => `$${index + 1}`);
    const [row] = await database.query(`select * from volley.${name}(${places})`, values);
    return row;
  };
  return {
    beat: async (worker, { name, leaseMs, life }) => {
      const row = await call('beat', [worker, name, leaseMs, life ?? null]);
      return { isAlive: row?.is_alive === true, life: row?.life as string };
    },
    findRun: async ({ run: only, job, withOpenParts = false }) => {
      const row = await call('find_run', [only ?? null, job ?? null, withOpenParts]);
      if (row === undefined) return undefined;
      const { id: run, born, digest, step, provisioned_ids: provisionedIds } = row;
      return { run, born, epoch: Number(row.epoch), digest, step, provisionedIds } as WorkingRun;
    },
    hasRuns: async ({ run, job }) => {
      const [row] = await database.query(
        'select exists (select from volley.run where id = coalesce($1, id) and job = coalesce($2, job)) as has_runs',
        [run ?? null, job ?? null],
      );
      return row?.has_runs === true;
    },
    claim: async ({ worker, run, step }, { count, holding, epoch }) => {
      const [requests, parts] = [holding.map(({ request }) => request), holding.map(({ part }) => part)];
      const rows = await database.query('select * from volley.claim($1, $2, $3, $4, $5, $6, $7)', [
        worker,
        run,
        step,
        epoch ?? null,
        count,
        requests,
        parts,
      ]);
      const claimed = rows.filter(({ request }) => request !== null) as unknown as ClaimedRow[];
      return { parts: claimed.map((row) => readClaimed(row, step)), isOpen: rows[0]?.is_open === true };
    },
    append: async ({ worker, run, step }, entries) => {
      const row = await call('append', [
        worker,
        run,
        step,
        entries.map(({ type }) => type),
        entries.map(({ request }) => request),
        entries.map(({ part }) => part),
        entries.map(({ attempt }) => attempt),
        entries.map(({ nonce }) => nonce),
        ...endColumns(entries.map((entry) => (entry.type === 'end' ? entry : undefined))),
      ]);
      return { refused: row?.refused as number[], life: row?.life as string };
    },
    leave: async (worker) => {
      await call('leave', [worker]);
    },
    recover: async () => Number((await call('recover', []))?.recover),
    checkIn: async (worker, attempts) => {
      const life = (await call('present_life', []))?.present_life;
      let lost = 0;
      for (const piece of inPieces(attempts, LOOKED_UP_AT_ONCE)) {
        const row = await call('list_lost', [...beginColumns(piece), piece.map(({ end }) => end !== undefined)]);
        const lostHere = row?.list_lost as number[];
        const missing = lostHere.flatMap((index) => piece[index] ?? []);
        for (const some of inPieces(missing, PUT_BACK_AT_ONCE)) {
          const ends = endColumns(some.map(({ end }) => end));
          lost += Number((await call('check_in', [worker, ...beginColumns(some), ...ends]))?.check_in);
        }
      }
      await database.query('update volley.worker set life = $2 where id = $1', [worker, life]);
      return lost;
    },
    askToStop: async (run, { epoch, reason, detail }) => {
      // An answer of the service may be in it, and no text of PostgreSQL has a NUL.
      await call('ask_to_stop', [run, epoch, reason, detail.replaceAll('\u0000', '')]);
    },
  };
}

interface ClaimedRow {
  readonly request: number;
  readonly part: string;
  readonly first_row: number;
  readonly row_count: number;
  readonly in_flight: boolean;
  readonly attempt: number;
  readonly head: string;
  readonly body: Buffer;
  readonly nonce: string | null;
}

function readClaimed(row: ClaimedRow, step: number): ClaimedPart {
  return {
    step,
    request: row.request,
    part: row.part,
    rows: [row.first_row, row.row_count],
    head: JSON.parse(row.head) as RequestHead,
    body: row.body,
    isInFlight: row.in_flight,
    attempt: row.attempt,
    nonce: row.nonce ?? undefined,
  };
}

function beginColumns(attempts: readonly RememberedAttempt[]): unknown[] {
  const begins: readonly BeginEntry[] = attempts.map(({ begin }) => begin);
  return [
    attempts.map(({ run }) => run),
    attempts.map(({ born }) => born ?? null),
    begins.map(({ step }) => step),
    begins.map(({ request }) => request),
    begins.map(({ part }) => part),
    begins.map(({ attempt }) => attempt),
    begins.map(({ nonce }) => nonce),
  ];
}

function* inPieces<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}

/** Outcome, result and halves of each end; nulls where there is none. */
function endColumns(ends: readonly (EndEntry | undefined)[]): unknown[] {
  return [
    ends.map((end) => end?.result.kind ?? null),
    ends.map((end) => (end === undefined ? null : JSON.stringify(end.result))),
    ends.map((end) => (end === undefined ? null : JSON.stringify(end.halves))),
  ];
}
