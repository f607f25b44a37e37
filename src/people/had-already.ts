import { formatDay } from '../domain/stated-time.js';
import type { Job } from '../job/job.js';
import type { HadSkip } from '../kinds/step-kind.js';
import type { HadFigures } from '../plan/format/plan-file.js';
import type { HadLookup } from '../plan/had-lookup.js';
import type { PeopleHead } from './people-file.js';
import type { PeopleTable } from './people-table.js';

/** What a job says of people who had something already. */
export type HadRules = Pick<Job, 'sameTextWithin' | 'frequency'> & { readonly sameText: HadFigures['rule'] };

/** What is known of people. `counts`: how messages of the plan itself count for `frequency`; of one that is planned those before a row, later all others. */
export interface KnownPeople {
  readonly table: PeopleTable;
  readonly runs: readonly PeopleHead[];
  readonly counts: 'none' | 'those before' | 'all others';
  /** The run whose rows are retried: what it sent counts for `frequency` alone. */
  readonly retried: string | undefined;
}

/** Which rows of a step are skipped since their number had the same text, or too many. */
export function createHadLookup(
  { table, runs, counts: own, retried }: KnownPeople,
  { sameText, sameTextWithin, frequency }: HadRules,
  nowMs: number,
): HadLookup {
  const counts = new Map<number, number>();
  const skips = new Map<number, HadSkip>();
  const isWithin = (run: PeopleHead | undefined, spanMs: number) =>
    run !== undefined && (!run.isOver || nowMs - run.sentAt <= spanMs);
  const skipAsHad = (run: number): HadSkip => {
    const known: HadSkip = skips.get(run) ?? { code: 'had-it-already', reason: describeHad(runs[run]) };
    skips.set(run, known);
    return known;
  };
  const findSame = (number: number, wanted: number) =>
    table.findRun(
      number,
      (text, run) => text === wanted && runs[run]?.plan !== retried && isWithin(runs[run], sameTextWithin),
    );
  const refuseOften = (number: number): HadSkip | undefined => {
    if (frequency === undefined) return undefined;
    const { max, per, group } = frequency;
    let recent = 0;
    table.findRun(number, (_text, run) => {
      if ((group === undefined || group === runs[run]?.group) && isWithin(runs[run], per)) recent += 1;
      return false;
    });
    const before = Math.max(0, table.ownOf(number) - (own === 'all others' ? 1 : 0));
    return recent + before < max ? undefined : describeTooOften(recent, before, frequency);
  };
  return {
    find: (number, textOf) => {
      if (!table.has(number)) return undefined;
      const had = findSame(number, textOf());
      if (had !== undefined) counts.set(had, (counts.get(had) ?? 0) + 1);
      return had !== undefined && sameText !== 'send' ? skipAsHad(had) : refuseOften(number);
    },
    note: (number) => {
      if (own === 'those before') table.addOwn(number);
    },
    figures: () => {
      const found = [...counts].map(([index, rows]) => ({ rows, ...nameRun(runs[index]) }));
      return found.length === 0 ? undefined : { rule: sameText, runs: found.sort((a, b) => b.rows - a.rows) };
    },
  };
}

function nameRun(run: PeopleHead | undefined): Omit<HadFigures['runs'][number], 'rows'> {
  return { run: run?.plan ?? '', job: run?.job ?? '', at: new Date(run?.sentAt ?? 0).toISOString() };
}

function describeHad(run: PeopleHead | undefined): string {
  const when = run?.isOver === true ? `on ${formatDay(run.sentAt)}` : 'or will have it: it is not finished';
  return `The number had exactly this text from run ${run?.plan} of job ${run?.job}, ${when}`;
}

function describeTooOften(
  recent: number,
  own: number,
  { max, per, group }: NonNullable<HadRules['frequency']>,
): HadSkip {
  const span = per % DAY_MS === 0 ? `${per / DAY_MS} days` : `${per / HOUR_MS} hours`;
  const what = group === undefined ? 'messages' : `messages of group ${group}`;
  const more = own === 0 ? '' : `, and gets ${own} more from this plan`;
  return {
    code: 'too-often',
    reason: `The number had ${recent} ${what} within ${span}${more}; frequency allows ${max}`,
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
