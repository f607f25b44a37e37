import { formatDay } from '../domain/stated-time.js';
import type { Job } from '../job/job.js';
import type { HadSkip } from '../kinds/step-kind.js';
import type { HadFigures } from '../plan/format/plan-file.js';
import type { HadLookup } from '../plan/had-lookup.js';
import type { CountedState, PeopleHead } from './people-file.js';
import { isSameRun, type RunMark } from './people-memory.js';
import type { PeopleTable } from './people-table.js';
import type { PlannedTexts } from './planned-texts.js';

/** What a job says of people who had something already. */
type HadRules = Pick<Job, 'sameTextWithin' | 'frequency'> & {
  readonly sameText: HadFigures['rule'];
  /** That asks. */
  readonly plan: { readonly id: string; readonly job: Pick<Job, 'name'> };
};

/** What is known of people. `counts`: how messages of the plan itself count for `frequency`; of one that is planned those before a row, later all others. */
export interface KnownPeople {
  readonly table: PeopleTable;
  readonly runs: readonly PeopleRun[];
  readonly counts: 'none' | 'those before' | 'all others';
  /** The run whose rows are retried: what it sent counts for `frequency` alone. */
  readonly retried: RunMark | undefined;
  /** What the steps before have planned; undefined where there are none, or the plan is made. */
  readonly texts: PlannedTexts | undefined;
}

/** The messages of a run of one state. */
interface PeopleRun extends PeopleHead {
  readonly state: CountedState;
}

/** Which rows of a step are skipped since their number had the same text, or too many. */
export function createHadLookup(
  { table, runs, counts: own, retried, texts }: KnownPeople,
  { sameText, sameTextWithin, frequency, plan }: HadRules,
  nowMs: number,
): HadLookup {
  const step = texts?.beginStep() ?? 0;
  const counts = new Map<string, Found>();
  /** Whom the row had it from that is looked at. */
  let from: Found | undefined;
  const skips = new Map<number, HadSkip>();
  // What a run that is not over has yet to send will be, however long ago it last sent.
  const isWithin = (run: PeopleRun | undefined, spanMs: number) =>
    run !== undefined && (run.state === 'to-send' || nowMs - run.sentAt <= spanMs);
  const skipAsHad = (run: number): HadSkip => {
    const known: HadSkip = skips.get(run) ?? { code: 'had-it-already', reason: describeHad(runs[run], plan.id) };
    skips.set(run, known);
    return known;
  };
  const countOf = (found: Omit<Found, 'rows'>): Found => {
    const known = counts.get(found.run) ?? { ...found, rows: 0 };
    counts.set(found.run, known);
    return known;
  };
  const takeAsHad = (skip: HadSkip): HadSkip => {
    if (from !== undefined) from.rows += 1;
    return skip;
  };
  const findSame = (number: number, wanted: number) =>
    table.findRun(
      number,
      (text, run) => text === wanted && !isSameRun(runs[run], retried) && isWithin(runs[run], sameTextWithin),
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
      from = undefined;
      if (texts?.isOfStepBefore(number, textOf, step) === true) {
        from = countOf({ run: plan.id, job: plan.job.name, at: new Date(nowMs).toISOString() });
        if (sameText !== 'send') return takeAsHad(HAD_FROM_STEP);
      }
      if (!table.has(number)) return undefined;
      const had = findSame(number, textOf());
      if (had !== undefined) from = countOf(nameRun(runs[had]));
      return had !== undefined && sameText !== 'send' ? takeAsHad(skipAsHad(had)) : refuseOften(number);
    },
    note: (number, textOf) => {
      if (from !== undefined) from.rows += 1;
      texts?.add(number, textOf, step);
      if (own === 'those before') table.addOwn(number);
    },
    figures: () => {
      const found = [...counts.values()].filter(({ rows }) => rows > 0);
      return found.length === 0 ? undefined : { rule: sameText, runs: found.sort((a, b) => b.rows - a.rows) };
    },
  };
}

type Found = { -readonly [Key in keyof HadFigures['runs'][number]]: HadFigures['runs'][number][Key] };

const HAD_FROM_STEP: HadSkip = {
  code: 'had-it-already',
  reason: 'The number gets exactly this text from an earlier step of this plan',
};

function nameRun(run: PeopleHead | undefined): Omit<Found, 'rows'> {
  return { run: run?.plan ?? '', job: run?.job ?? '', at: new Date(run?.sentAt ?? 0).toISOString() };
}

function describeHad(run: PeopleRun | undefined, own: string): string {
  // The same plan, in another directory.
  const place = run?.plan === own ? ` in ${run.directory}` : '';
  const from = `exactly this text from run ${run?.plan} of job ${run?.job}${place}`;
  if (run?.state === 'in-doubt') return `The number may have had ${from}: it is in doubt there`;
  const when = run?.state === 'accepted' ? `on ${formatDay(run.sentAt)}` : 'or will have it: it is not finished';
  return `The number had ${from}, ${when}`;
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
