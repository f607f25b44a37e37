import { formatDay } from '../domain/stated-time.js';
import type { Job } from '../job/job.js';
import type { HadSkip } from '../kinds/step-kind.js';
import type { HadFigures } from '../plan/format/plan-file.js';
import type { HadLookup } from '../plan/had-lookup.js';
import type { PeopleHead } from './people-file.js';
import type { PeopleTable } from './people-table.js';

/** What a job says of people who had something already. */
export type HadRules = Pick<Job, 'sameTextWithin' | 'frequency'> & { readonly sameText: HadFigures['rule'] };

/** Which rows of a step are skipped since their number had the same text, or too many. The step's own rows count for nothing. */
export function createHadLookup(
  { table, runs }: { table: PeopleTable; runs: readonly PeopleHead[] },
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
    table.findRun(number, (text, run) => text === wanted && isWithin(runs[run], sameTextWithin));
  const refuseOften = (number: number): HadSkip | undefined => {
    if (frequency === undefined) return undefined;
    const { max, per, group } = frequency;
    let recent = 0;
    table.findRun(number, (_text, run) => {
      if ((group === undefined || group === runs[run]?.group) && isWithin(runs[run], per)) recent += 1;
      return false;
    });
    return recent < max ? undefined : describeTooOften(recent, frequency);
  };
  return {
    find: (number, textOf) => {
      if (!table.has(number)) return undefined;
      const had = findSame(number, textOf());
      if (had !== undefined) counts.set(had, (counts.get(had) ?? 0) + 1);
      return had !== undefined && sameText !== 'send' ? skipAsHad(had) : refuseOften(number);
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

function describeTooOften(recent: number, { max, per, group }: NonNullable<HadRules['frequency']>): HadSkip {
  const span = per % DAY_MS === 0 ? `${per / DAY_MS} days` : `${per / HOUR_MS} hours`;
  const what = group === undefined ? 'messages' : `messages of group ${group}`;
  return { code: 'too-often', reason: `The number had ${recent} ${what} within ${span}; frequency allows ${max}` };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
