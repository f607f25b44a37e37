import { UserError } from '../../domain/errors.js';
import type { Clock } from '../../ports/clock.js';
import { type LeadKey, LeadLost } from '../store.js';
import type { Database } from './database.js';
import { remaining, USED_SPAN_MS } from './schema/lane-functions.js';
import { isLed, NOW_MS } from './schema/worker-functions.js';

/** What a database holds, for people. */
export interface ClusterStatus {
  readonly runs: readonly {
    readonly run: string;
    readonly job: string;
    readonly step: number | null;
    readonly isOpen: boolean;
    /** When its leader was last there (ISO 8601); null while it is there. */
    readonly noLeaderSince: string | null;
    /** Host and process id, as far as a process leads it. */
    readonly leader: string;
    readonly standbys: readonly string[];
    /** The database lacks attempts: its leader refuses to resume it until it is dropped. */
    readonly hasLost: boolean;
    /** Requests in each state, or parts of requests that were split. */
    readonly open: number;
    readonly claimed: number;
    readonly underWay: number;
    /** How long ago the oldest open request was handed over; null where none is open. */
    readonly oldestOpenSeconds: number | null;
    /** Rows that were handed over and whose outcome no journal has: in doubt if the run is dropped now, or the database lost. */
    readonly rows: number;
    /** How many bodies of requests it holds: those have numbers and texts of people. */
    readonly bodies: number;
    /** Why it is to stop; null where it is not. */
    readonly stop: string | null;
  }[];
  readonly workers: readonly {
    readonly name: string;
    readonly leaseSeconds: number;
    readonly claimed: number;
    readonly underWay: number;
  }[];
  readonly lanes: readonly {
    readonly lane: string;
    /** The part of its limits at which it sends; 1 where the service has not asked to slow down. */
    readonly share: number;
    readonly pausedSeconds: number;
    /** The part of its limit that was used in the last seconds; 1: all of it. */
    readonly used: number;
  }[];
  /** How long a call took. */
  readonly answersInMs: number;
}

/** A process that stands by says so three times as often. */
const STANDS_BY_SECONDS = 15;

/** SQL: the processes that stand by for the job of a run. */
const STANDBYS = `
  array(select process from volley.standby s
    where s.job = r.job and not starts_with(r.leader || ' ', process || ' ')
      and seen_at > clock_timestamp() - interval '${STANDS_BY_SECONDS} seconds' order by 1)`;

/** SQL: how many rows of a run have an outcome that no journal has, or none. A split request counts by its halves alone. */
const ROWS_IN_DOUBT = `
  (select coalesce(sum(rows[2]), 0) from volley.part
    where run = r.id and (state in ('open', 'claimed', 'under-way') or (ended is not null and outcome = 'settled')))`;

/** How many rows are in doubt if a run is dropped now. */
async function countRowsInDoubt(database: Database, run: string): Promise<number> {
  const [row] = await database.query(`select ${ROWS_IN_DOUBT} as rows from volley.run r where r.id = $1`, [run]);
  return Number(row?.rows ?? 0);
}

export async function readClusterStatus(
  database: Database,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): Promise<ClusterStatus> {
  // The first call opens the connection.
  await database.query('select');
  const startMs = monotonicMs();
  await database.query('select');
  const answersInMs = monotonicMs() - startMs;
  return {
    answersInMs,
    runs: await database.query(`
      select r.id as run, r.job, r.step, r.is_open as "isOpen", r.stop ->> 'detail' as stop, r.has_lost as "hasLost",
          ${STANDBYS} as standbys,
          regexp_replace(r.leader, ' \\S+$', '') as leader, (${ROWS_IN_DOUBT})::float8 as rows,
          (select extract(epoch from clock_timestamp() - min(q.handed_at))::float8
            from volley.request q join volley.part p using (run, step, request)
            where q.run = r.id and p.state = 'open') as "oldestOpenSeconds",
          case when isfinite(r.lease_until) and not ${isLed('r')}
            then to_char((r.lease_until - r.lease) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end as "noLeaderSince",
          ${countParts('p.run = r.id', ['open', 'claimed', 'under-way'])},
          (select count(*)::integer from volley.request q where q.run = r.id) as bodies
        from volley.run r order by r.id`),
    workers: await database.query(`
      select w.name, extract(epoch from w.lease_until - clock_timestamp())::float8 as "leaseSeconds",
          ${countParts('p.owner = w.id', ['claimed', 'under-way'])}
        from volley.worker w where w.gone_at is null and w.lease_until > clock_timestamp() order by w.name`),
    lanes: await database.query(`
      select name as lane, share, greatest(0, paused_until_ms - ${NOW_MS}) / 1000 as "pausedSeconds",
          least(1, used_ms * ${remaining(`${NOW_MS} - slack_at_ms`)} / ${USED_SPAN_MS}) as used
        from volley.lane order by name`),
  };
}

function countParts(whose: string, states: readonly string[]): string {
  const columns = states.map((state) => {
    const name = state === 'under-way' ? '"underWay"' : state;
    return `(select count(*)::integer from volley.part p where ${whose} and p.state = '${state}') as ${name}`;
  });
  return columns.join(', ');
}

/**
 * Deletes all of a run once workers send nothing of it any more: nothing begins from the first call on, and what is under way ends, or
 * its worker's lease does. `onWaiting`: once, with how many requests that are.
 */
export async function dropRun(
  database: Database,
  { run, epoch }: LeadKey,
  onWaiting?: (underWay: number) => void,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const [row] = await database.call<{ dropRun: number }>('drop_run', run, epoch);
    const { dropRun: underWay = 0 } = row ?? {};
    if (underWay === 0) return;
    if (isFirst) onWaiting?.(underWay);
    await database.query('select pg_sleep(0.2)');
  }
}

/** Drops a run that no process leads or is about to lead. Returns how many rows are in doubt now. `onWaiting` as in `dropRun`. */
export async function dropNamedRun(
  database: Database,
  run: string,
  onWaiting: (underWay: number) => void,
): Promise<number> {
  const [led] = await database.query(
    `select epoch, not has_lost and ${isLed('r')} as is_led, to_char(lease_until at time zone 'UTC', 'HH24:MI:SS') as until,
         case when not has_lost then array_to_string(${STANDBYS}, ', ') end as standbys
       from volley.run r where id = $1`,
    [run],
  );
  const refuse = (code: 'bad-flag' | 'lock-held', what: string, hint: string) =>
    new UserError(code, `Cannot drop run ${run}: ${what}`, { hint });
  if (led === undefined)
    throw refuse(
      'bad-flag',
      'the database does not know it, expected one of its runs',
      'volley cluster status lists them.',
    );
  if (led.is_led === true) {
    const hint = `Stop that process first. If it is gone already, its lease ends at ${led.until} UTC: drop the run then.`;
    throw refuse('lock-held', 'a process leads it', hint);
  }
  if (led.standbys) {
    const hint = `Let it resume the run, or stop it: drop the run ${STANDS_BY_SECONDS} s later.`;
    throw refuse('lock-held', `a process stands by to take it over (${led.standbys})`, hint);
  }
  // No leader takes any of it meanwhile, so what ends until then counts as well.
  const rows = await countRowsInDoubt(database, run);
  await dropRun(database, { run, epoch: Number(led.epoch) }, onWaiting).catch((error: unknown) => {
    if (!(error instanceof LeadLost)) throw error;
    const hint = 'Wait for its end, or stop it; then drop the run, if it is still there.';
    throw refuse('lock-held', 'a process has resumed it meanwhile', hint);
  });
  return rows;
}
