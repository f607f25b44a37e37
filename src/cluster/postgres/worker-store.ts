import type { RequestHead } from '../../plan/format/plan-file.js';
import type { ClaimedPart, EndEntry, WorkerStore, WorkingRun } from '../store.js';
import type { Database } from './database.js';

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
    findRun: async ({ run, job }) => {
      const [found] = await database.query(
        `select id as run, born, epoch::float8, digest, step, provisioned_ids as "provisionedIds"
           from volley.run r, volley.present_life() as present
           where id = coalesce($1, id) and job = coalesce($2, job) and volley.is_claimable(r, r.step, present)
           order by exists (select from volley.part p where p.run = r.id and p.step = r.step and p.state = 'open') desc, random()
           limit 1`,
        [run ?? null, job ?? null],
      );
      return found as unknown as WorkingRun | undefined;
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
    append: async ({ worker, run, step }, entries, number) => {
      const row = await call('append', [
        worker,
        number,
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
      await database.query(
        `with gone as (update volley.worker set gone_at = clock_timestamp() from volley.present_life() where id = $1 and gone_at is null)
         update volley.part set state = 'open', owner = null where owner = $1 and state = 'claimed'`,
        [worker],
      );
    },
    recover: async () => Number((await call('recover', []))?.recover),
    checkIn: async (life, { calls, births }) => {
      await call('check_in', [life, calls.map(({ worker }) => worker), calls.map(({ call }) => call), births]);
    },
    askToStop: async (run, { epoch, reason, detail }) => {
      // An answer of the service may be in it, and no text of PostgreSQL has a NUL.
      await database.query(
        `update volley.run set stop_reason = $3, stop_detail = $4 from volley.present_life()
           where id = $1 and epoch = $2 and stop_reason is null`,
        [run, epoch, reason, detail.replaceAll('\u0000', '')],
      );
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

/** Outcome, result and halves of each end; nulls where there is none. */
function endColumns(ends: readonly (EndEntry | undefined)[]): unknown[] {
  return [
    ends.map((end) => end?.result.kind ?? null),
    ends.map((end) => (end === undefined ? null : JSON.stringify(end.result))),
    ends.map((end) => (end === undefined ? null : JSON.stringify(end.halves))),
  ];
}
