import { countOf } from '../domain/count-of.js';
import { quoteWord } from '../domain/errors.js';
import { formatTime } from '../domain/stated-time.js';
import { fixDates } from '../job/fix-dates.js';
import type { Job } from '../job/job.js';
import { findOptOutWord } from '../listen/opt-out-words.js';
import { createOpenPeople } from '../people/open-people.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { digestsOf, type Plan } from '../plan/format/plan-file.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';
import { makePlan, type PlanOutcome } from '../plan/make-plan.js';
import { nameAgain, readAgain } from '../plan/occurrence.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { warnOfList } from '../plan/suppress/describe-lists.js';
import type { Log } from '../ports/log.js';
import { OwnerLookup } from '../registry/owner-lookup.js';
import { type PastRun, readHistory } from '../registry/read-runs.js';
import { ReceivedRows } from '../registry/received-rows.js';
import type { Registry } from '../registry/registry.js';
import { countTakenBack } from '../report/summary.js';
import { readSummary } from '../report/write-report.js';
import { assertOwned } from '../retry/assert-owned.js';
import { lineOf } from '../retry/retried-line.js';
import type { Files } from '../storage/files.js';
import { formatFileNotices, listFileNotices, listLeftOut } from '../texts/file-notices.js';
import type { Context } from './context.js';
import { isDiskError } from './disk-error.js';
import { nameActor } from './env.js';
import { createProgressView } from './progress.js';
import { endOnSignal, endSoon } from './signals.js';
import { type HeldJob, jobDirectoryOf, withJob } from './with-job.js';

/** Reads all input of a job and plans what is new, behind the job's lock; sends nothing, and leaves the guards to the caller. */
export async function planJob(context: Context, job: Job, isAgain: boolean): Promise<PlanOutcome> {
  context.name({ job: job.name });
  return endOnSignal(context, () =>
    withJob(context, jobDirectoryOf(job), (held) =>
      endSoon(context, 'plan the job', async () => {
        const history = await readHistory(context.env.files, held.directory, held.registry.state);
        const day = context.env.clock.now();
        return planNewInput(context, job, held, { history, isAgain, isResumed: false, day });
      }),
    ),
  );
}

/** Plans what is new for a job, shows progress, and reports the files that it omitted. `isResumed`: the command has just finished a run; `day`: when it began. */
export async function planNewInput(
  context: Context,
  loaded: Job,
  { lock, registry }: HeldJob,
  {
    history,
    isAgain,
    isResumed,
    day,
  }: { history: readonly PastRun[]; isAgain: boolean; isResumed: boolean; day: number },
): Promise<PlanOutcome> {
  const { env, log, terminal } = context;
  const { files, clock } = env;
  const { directories } = registry;
  const job = fixDates(loaded, clock.now());
  const startMs = clock.monotonicMs();
  const view = createProgressView(terminal, log);
  const occurrence = nameOccurrence(isAgain ? 'always' : job.repeat, registry, day);
  const received = new ReceivedRows(files, directories);
  try {
    const deps = await createPlanDeps(context, view.planned);
    const sources = { files, registry: registry.state, history, received };
    const outcome = await makePlan(job, deps, {
      directories,
      occurrence,
      isAbandoned: (id) => registry.state.isAbandoned(id),
      nowMs: clock.now(),
      isResumed,
      assertHeld: () => lock.assertHeld(),
      ownersFor: ({ id }) => new OwnerLookup(sources, { plan: { id, job, occurrence } }),
      findTaken: (kind, digest) => registry.findTaken({ job, occurrence }, { kind, digest }),
    });
    if (outcome.made !== undefined) {
      await assertOwned(sources, { ...outcome.made, directories });
      const seconds = (clock.monotonicMs() - startMs) / 1000;
      context.emit({ type: 'plan', plan: outcome.made.plan, seconds });
    }
    const leftOut = await Promise.all(outcome.leftOut.map((each) => noteTakenBack(each, { files, history })));
    if (isAgain) await warnOfTakenBack(outcome, { registry, history, log }, files);
    const isOnScreen = terminal.isStdoutTerminal && terminal.isStderrTerminal;
    // Where there is nothing else to say, the command itself names them.
    if (outcome.made !== undefined || isResumed || !isOnScreen)
      for (const line of listLeftOut(leftOut)) log.info(`skipped: ${line}`);
    logNotices(outcome.made?.plan.steps ?? [], context);
    if (outcome.made !== undefined) for (const warning of listUnheard(job)) log.warn(warning);
    return { ...outcome, leftOut };
  } catch (error) {
    // The process that took over the job removes our unfinished files.
    if (isDiskError(error)) await lock.assertHeld();
    throw error;
  } finally {
    await received.close();
    view.close();
  }
}

/** Adapters of the planner: the disk and the readers. */
export async function createPlanDeps(
  { env: { files, owner, clock, loadReader }, log, terminal, stop, emit }: Context,
  onProgress: PlanDeps['onProgress'] = () => {},
): Promise<PlanDeps> {
  const [reader, { spoolInput }] = await Promise.all([loadReader(), import('../input/spool.js')]);
  return {
    files,
    openPeople: createOpenPeople(files, { nowMs: () => clock.now(), onNotice: (notice) => log.warn(notice) }),
    processId: owner.pid,
    plannedBy: nameActor(terminal.env),
    onProgress: (progress) => {
      onProgress(progress);
      emit({ type: 'reading', ...progress });
    },
    signal: stop.nothingNew,
    reader: { ...reader, spoolStandardInput: (path) => spoolInput(terminal.stdin, path) },
  };
}

/** Says what the files have of oddities, and what is wrong with a suppression list or a filter. */
function logNotices(steps: Plan['steps'], { log, screen, terminal }: Context): void {
  const notices = terminal.isStderrTerminal ? formatFileNotices(steps, screen) : listFileNotices(steps);
  for (const notice of notices) log.info(notice);
  for (const list of steps.flatMap(({ suppression }) => suppression)) {
    const warning = warnOfList(list);
    if (warning !== undefined) log.warn(warning);
  }
  for (const { warning } of steps.flatMap(({ funnel = [] }) => funnel)) if (warning !== undefined) log.warn(warning);
}

/** Steps whose text names a word such as STOP, though no list has who answered it. */
export function listUnheard({ steps }: Job): string[] {
  return steps.flatMap((step, index) => {
    const word = step.kind === 'sms' && step.suppress === undefined ? findOptOutWord(step.template.text) : undefined;
    if (word === undefined) return [];
    const what = `step ${index + 1} (sms): its text names ${word}, and no list has who answers so`;
    return [`${what}: they are written to all the same. Name one with optOuts; volley listen --opt-outs writes it`];
  });
}

/** Messages of a file that a cancel took back, and that no other plan has since. */
interface TakenBack {
  readonly run: string;
  readonly directory: string;
  readonly rows: number;
  readonly at: string;
}

/** Of the run that took a file, or of one that retries its rows: the last that has such messages. */
async function findTakenBack(
  taker: string,
  { files, history }: { files: Files; history: readonly PastRun[] },
): Promise<TakenBack | undefined> {
  const plans = new Map(history.map(({ plan }) => [plan.id, plan]));
  const found: TakenBack[] = [];
  for (const { plan, directory } of history) {
    if (plan.testOf !== undefined || !lineOf(plan, plans).includes(taker)) continue;
    const summary = await readSummary(files, directory);
    const rows = summary === undefined ? 0 : countTakenBack(summary);
    if (summary?.takenBackAt !== undefined && rows > 0)
      found.push({ run: plan.id, directory, rows, at: summary.takenBackAt });
  }
  return found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at)).at(-1);
}

/** A file whose messages a cancel took back was not sent, in the end: says so, and where its run is. */
async function noteTakenBack(
  leftOut: LeftOut,
  sources: { files: Files; history: readonly PastRun[] },
): Promise<LeftOut> {
  const found = leftOut.run === undefined ? undefined : await findTakenBack(leftOut.run, sources);
  if (found === undefined) return leftOut;
  const { run, directory, rows, at } = found;
  const what = `${countOf(rows, 'message')} of it ${rows === 1 ? 'was' : 'were'} taken back`;
  const reason = `was sent by run ${run}, and ${what} on ${formatTime({ at })}`;
  return { ...leftOut, reason, takenBackFrom: directory };
}

/** Once the files are sent again with `--again`, no retry has what was taken back of them. */
async function warnOfTakenBack(
  { made }: PlanOutcome,
  { registry, history, log }: { registry: Registry; history: readonly PastRun[]; log: Log },
  files: Files,
): Promise<void> {
  const { id, job, steps } = made?.plan ?? { id: '', job: undefined, steps: [] };
  const takers = steps.flatMap(({ kind, inputs }) => {
    const scope = { account: job === undefined ? '' : accountOfKind(job, kind), occurrence: '' };
    return inputs.flatMap((input) => registry.state.listTakers(kind, digestsOf(input), scope));
  });
  for (const taker of new Set(takers)) {
    const found = taker === id ? undefined : await findTakenBack(taker, { files, history });
    if (found === undefined) continue;
    const { run, directory, rows, at } = found;
    const what = `${countOf(rows, 'message')} of run ${run} ${rows === 1 ? 'was' : 'were'} taken back on ${formatTime({ at })}`;
    log.warn(
      `${what}: plan ${id} has the whole file again, and once it begins they cannot be retried; to send them alone instead, without plan ${id}: \`volley retry ${quoteWord(directory)} --only not-sent\``,
      { run },
    );
  }
}

/** Distinguishes two plans for the same files; see `Plan.occurrence`. The day is that of the host's time zone. */
function nameOccurrence(repeat: Job['repeat'], { occurrences }: Registry, nowMs: number): string {
  if (repeat === 'never') return '';
  if (repeat === 'always') return nameAgain(Math.max(0, ...occurrences.map(readAgain)) + 1);
  const now = new Date(nowMs);
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}
