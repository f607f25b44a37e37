import { dirname, join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import { formatDay } from '../domain/stated-time.js';
import { accountOfKind, type Job, type Step } from '../job/job.js';
import type { FindHad, HadSkip } from '../kinds/row-judge.js';
import type { HadFigures, Plan, PlanAt } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { isDay, nameDay, readRunFile } from '../plan/format/run-record.js';
import type { HadLookup, OpenPeople } from '../plan/plan-deps.js';
import { readRunRows } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import { noteMissing, spanOf } from './missing-people.js';
import { type CountedState, type PeopleHead, type PersonState, readPeople } from './people-file.js';
import {
  describeMemoriesNearby,
  isSameRun,
  listTextsOf,
  listTextsOfRun,
  markOf,
  nameOfPeople,
  notePeople,
  peopleDirectoryOf,
  type RunMark,
  readFacts,
  readMark,
  readOutputs,
  readPeopleHeads,
  refusePeopleFile,
} from './people-memory.js';
import { NO_RUN, PeopleTable, PlannedTexts } from './people-table.js';

/**
 * A run is about to send, or to go on: all of its messages count from now on, but for those of people who had theirs since its plan was
 * made. Gives why it sends nothing to these: it is to be asked before each request. Of two runs that begin in one moment each may see the
 * other: then neither sends to those that both have.
 */
export async function beginPeople(
  files: Files,
  run: PlanAt,
  { nowMs, onNotice }: { nowMs: number; onNotice: (notice: string) => void },
): Promise<FindHad | undefined> {
  const { directory, plan } = run;
  if (plan.testOf !== undefined || !plan.steps.some(({ number }) => listTextsOf(plan.job, number) !== undefined))
    return;
  const jobDirectory = dirname(directory);
  const { rows, state } = await readRunRows(files, run);
  const mark = markOf(plan.id, state);
  const asking = { jobDirectory, nowMs: () => nowMs, onNotice, begun: { ...run, mark } };
  const look = async () => (await openPeople(files, plan, asking))?.().find;
  const readOthers = () => readFacts(files, peopleDirectoryOf(plan.job, jobDirectory), mark);
  const before = await readOthers();
  const findHad = await look();
  await notePeople(files, run, { nowMs, rows, findHad });
  return (await readOthers()) === before ? findHad : look();
}

interface Asking {
  readonly jobDirectory: string;
  readonly nowMs: () => number;
  readonly onNotice: (notice: string) => void;
  /** The plan is made, and is about to be sent: what this very run has to send it does not hold against itself. */
  readonly begun: (PlanAt & { readonly mark: RunMark | undefined }) | undefined;
}

export function createOpenPeople(files: Files, times: Omit<Asking, 'jobDirectory' | 'begun'>): OpenPeople {
  return (plan, jobDirectory) => openPeople(files, plan, { ...times, jobDirectory, begun: undefined });
}

/**
 * Reads who had what, as far as a plan asks for it, from the runs of its account. The run whose rows it retries gives them up: only
 * what it sent counts.
 */
async function openPeople(
  files: Files,
  plan: Parameters<OpenPeople>[0],
  { jobDirectory, nowMs, onNotice, begun }: Asking,
): ReturnType<OpenPeople> {
  const { id, job, retryOf } = plan;
  const rules = { ...job, sameText: sameTextRule(plan), plan: { id: id ?? '', job } };
  const directory = peopleDirectoryOf(job, jobDirectory);
  const steps = job.steps.filter((_, index) => listTextsOf(job, index + 1) !== undefined);
  const spanMs = spanOf(job);
  const made = steps.length === 0 ? 0 : await makeMissing(files, { job, jobDirectory, spanMs }, { nowMs, onNotice });
  const { key, heads: all } = await readPeopleHeads(files, directory);
  const accounts = new Set(job.steps.map(({ kind }) => accountOfKind(job, kind)));
  const isRecent = ({ isOver, sentAt }: PeopleHead) => !isOver || nowMs() - sentAt <= spanMs;
  const mayCount = (head: PeopleHead) => isRecent(head) && accounts.has(head.account);
  // A plan that is about to be sent said so when it was made.
  const isNew = all.length === made && steps.length > 0 && begun === undefined;
  if (isNew) (await describeMemoriesNearby(files, { job, jobDirectory }, mayCount)).map(onNotice);
  const recent = all.map(({ head }) => head).filter((head) => mayCount(head) && !isSameRun(head, begun?.mark));
  const others = countsDayAlone(plan) ? await listOtherDays(files, recent, plan) : new Set<PeopleHead>();
  const heads = job.frequency === undefined ? recent.filter((head) => !others.has(head)) : recent;
  const retried =
    retryOf && (await readMark(files, (await RunDirectories.read(files, jobDirectory)).of(retryOf.run), retryOf.run));
  // One step without duplicates has no number twice.
  const mayRepeat = steps.length > 1 || steps.some(keepsDuplicates);
  const countsOwn = job.frequency !== undefined && mayRepeat;
  const texts = mayRepeat && begun === undefined ? new PlannedTexts() : undefined;
  if (heads.length === 0 && !countsOwn && texts === undefined) return undefined;
  const table = await loadTable(files, directory, { heads, key, retried });
  if (countsOwn && begun !== undefined) await addOwn(table, files, begun);
  const counts = !countsOwn ? 'none' : begun === undefined ? 'those before' : 'all others';
  const runs = heads.flatMap((head) =>
    COUNTED.map((counted) => ({ ...head, state: counted, isOfOtherDay: others.has(head) })),
  );
  const known: KnownPeople = { table, runs, counts, retried, texts };

  return (step) => createHadLookup(known, rules, { nowMs: nowMs(), isOwnAsked: keepsDuplicates(step) });
}

function keepsDuplicates(step: Step | undefined): boolean {
  return step?.kind === 'sms' && step.duplicates === 'keep';
}

async function makeMissing(
  files: Files,
  owner: Parameters<typeof noteMissing>[1],
  { nowMs, onNotice }: Pick<Asking, 'nowMs' | 'onNotice'>,
): Promise<number> {
  const directory = peopleDirectoryOf(owner.job, owner.jobDirectory);
  const isNew = owner.job.memory !== undefined && (await readOutputs(files, directory)).length === 0;
  const made = await noteMissing(files, owner, nowMs());
  if (made > 0) onNotice(describeMade(made, directory, isNew));
  return made;
}

/** All runs but those of the job, and of the day, of a plan. */
async function listOtherDays(
  files: Files,
  heads: readonly PeopleHead[],
  { job, occurrence }: Parameters<OpenPeople>[0],
): Promise<Set<PeopleHead>> {
  const others = new Set<PeopleHead>();
  for (const head of heads) {
    const { record } = (head.job === job.name && (await readRunFile(files, head.directory))) || {};
    // Without its directory, or where the job was not of every day yet, only the time of the run is known.
    const known = record?.plan === head.plan ? (record.begun?.occurrence ?? '') : '';
    const day = isDay(known) ? known : nameDay(head.sentAt);
    if (head.job !== job.name || day !== occurrence) others.add(head);
  }
  return others;
}

async function addOwn(table: PeopleTable, files: Files, run: PlanAt): Promise<void> {
  for await (const messages of listTextsOfRun(files, run)) for (const { number } of messages) table.addOwn(number);
}

const COUNTED: readonly CountedState[] = ['accepted', 'in-doubt', 'to-send'];

async function loadTable(
  files: Files,
  directory: string,
  { heads, key, retried }: { heads: readonly PeopleHead[]; key: Buffer; retried: RunMark | undefined },
): Promise<PeopleTable> {
  const table = new PeopleTable();
  const messages = heads.reduce((sum, { records }) => sum + records, 0);
  await table.load(messages, async (take) => {
    for (const [run, head] of heads.entries()) {
      const path = join(directory, nameOfPeople(head));
      const isRetried = isSameRun(head, retried);
      const add = (number: number, text: number, state: PersonState) => {
        const place = COUNTED.indexOf(state as CountedState);
        const isCounted = place !== -1 && !(isRetried && state === 'to-send');
        take(number, text, isCounted ? COUNTED.length * run + place : NO_RUN);
      };
      if (!(await readPeople(files, path, { key, add }))) throw refusePeopleFile(path, head.plan);
    }
  });
  return table;
}

function describeMade(made: number, directory: string, isNew: boolean): string {
  const others = isNew ? '; those of jobs with another output directory come with their next run' : '';
  return `${directory} lacked the messages of ${countOf(made, 'run')}: they are added from plans and journals${others}`;
}

/** What a job says of people who had something already. */
type HadRules = Pick<Job, 'sameTextWithin' | 'frequency'> & {
  readonly sameText: HadFigures['rule'];
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
  /** It counts for `frequency` alone. */
  readonly isOfOtherDay?: boolean;
}

/**
 * Whom a job that does not say it sends the same text: no one twice, and no one twice a day where it is of every day, unless files are to be
 * sent again. What it says counts, whatever `repeat` says; `--again` is a word of its own.
 */
function sameTextRule({ job, occurrence, retryOf }: Pick<Plan, 'job' | 'occurrence' | 'retryOf'>): HadFigures['rule'] {
  if (retryOf?.only === 'had-it-already' || (occurrence !== '' && job.repeat === 'never')) return 'send';
  return job.sameText ?? (occurrence === '' || isDay(occurrence) ? 'hold' : 'send');
}

/** Whether only what the job sent on the same day counts: what it sends on another one is another message. */
function countsDayAlone({ job, occurrence }: Pick<Plan, 'job' | 'occurrence'>): boolean {
  return job.sameText === undefined && isDay(occurrence);
}

/** Which rows of a step are skipped since their number had the same text, or too many. `isOwnAsked`: rows before them in the same step count too. */
export function createHadLookup(
  { table, runs, counts: own, retried, texts }: KnownPeople,
  { sameText, sameTextWithin, frequency, plan }: HadRules,
  { nowMs, isOwnAsked = false }: { nowMs: number; isOwnAsked?: boolean },
): HadLookup {
  const step = texts?.beginStep() ?? 0;
  const counts = new Map<string, Found>();
  /** The run that the row at hand had its text from. */
  let from: Found | undefined;
  /** When its number last had another text from this job; 0: it had none. */
  let otherAt = 0;
  const other = { rows: 0, lastAt: 0 };
  const skips = new Map<number, HadSkip>();
  // What a run that is not over has yet to send will be, however long ago it last sent.
  const isWithin = (run: PeopleRun | undefined, spanMs: number) =>
    run !== undefined && (run.state === 'to-send' || nowMs - run.sentAt <= spanMs);
  const skipAsHad = (run: number) =>
    remember(skips, run, (): HadSkip => ({ code: 'had-it-already', reason: describeHad(runs[run], plan.id) }));
  const countIn = (found: Omit<Found, 'rows'>) => remember(counts, found.run, () => ({ ...found, rows: 0 }));
  const takeAsHad = (skip: HadSkip): HadSkip => {
    if (from !== undefined) from.rows += 1;
    return skip;
  };
  const findSame = (number: number, textOf: () => number) => {
    let wanted: number | undefined;
    return table.findRun(number, (text, at) => {
      const run = runs[at];
      if (run === undefined || run.isOfOtherDay === true || isSameRun(run, retried)) return false;
      wanted ??= textOf();
      if (!isWithin(run, sameTextWithin)) return false;
      if (text !== wanted && run.job === plan.job.name) otherAt = Math.max(otherAt, run.sentAt);
      return text === wanted;
    });
  };
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
      otherAt = 0;
      if (texts?.isPlannedBefore(number, textOf, isOwnAsked ? step + 1 : step) === true) {
        from = countIn({ run: plan.id, job: plan.job.name, at: new Date(nowMs).toISOString() });
        if (sameText !== 'send') return takeAsHad(HAD_FROM_ROW);
      }
      const had = findSame(number, textOf);
      if (had !== undefined) from = countIn(nameRun(runs[had]));
      return had !== undefined && sameText !== 'send' ? takeAsHad(skipAsHad(had)) : refuseOften(number);
    },
    note: (number, textOf) => {
      if (from !== undefined) from.rows += 1;
      if (otherAt > 0) {
        other.rows += 1;
        other.lastAt = Math.max(other.lastAt, otherAt);
      }
      texts?.add(number, textOf, step);
      if (own === 'those before') table.addOwn(number);
    },
    figures: () => {
      const found = [...counts.values()].filter(({ rows }) => rows > 0);
      if (found.length === 0 && other.rows === 0) return undefined;
      const otherText = other.rows > 0 && { otherText: { rows: other.rows, at: new Date(other.lastAt).toISOString() } };
      return { rule: sameText, runs: found.sort((a, b) => b.rows - a.rows), ...otherText };
    },
  };
}

type Found = { -readonly [Key in keyof HadFigures['runs'][number]]: HadFigures['runs'][number][Key] };

const HAD_FROM_ROW: HadSkip = {
  code: 'had-it-already',
  reason: 'The number gets exactly this text from an earlier row of this plan',
};

function nameRun(run: PeopleHead | undefined): Omit<Found, 'rows'> {
  return { run: run?.plan ?? '', job: run?.job ?? '', at: new Date(run?.sentAt ?? 0).toISOString() };
}

function describeHad(run: PeopleRun | undefined, own: string): string {
  // One plan can be in two directories.
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
  const span = per % DAY_MS === 0 ? countOf(per / DAY_MS, 'day') : countOf(per / HOUR_MS, 'hour');
  const what = `${countOf(recent, 'message')}${group === undefined ? '' : ` of group ${group}`}`;
  const more = own === 0 ? '' : `, and gets ${own} more from this plan`;
  return { code: 'too-often', reason: `The number had ${what} within ${span}${more}; frequency allows ${max}` };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
