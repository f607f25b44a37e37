import { isRowKind, ROW_KINDS } from '../domain/areas.js';
import { listMost } from '../domain/count-of.js';
import { quoteWord } from '../domain/errors.js';
import { warnOfZone } from '../domain/stated-time.js';
import { accountOfKind, isRowStep, type Job } from '../job/job.js';
import { fixDates } from '../job/planned-job.js';
import { findOptOutWord } from '../listen/opt-outs.js';
import { createOpenPeople } from '../people/had-already.js';
import type { Plan } from '../plan/format/plan-file.js';
import { nameAgain, nameDay, readAgain } from '../plan/format/run-record.js';
import { makePlan, type PlanOutcome } from '../plan/make-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { JobRows } from '../registry/job-rows.js';
import { OwnerLookup } from '../registry/owner-lookup.js';
import {
  assertListsKept,
  findSameNight,
  listCameWith,
  noonOf,
  type PastRun,
  readHistory,
} from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import type { RegistryState } from '../registry/registry-state.js';
import { listOthersWaiting } from '../registry/waiting-messages.js';
import { warnOfList } from '../report/account.js';
import { assertOwned } from '../retry/assert-owned.js';
import { needsReceipts } from '../run/send/sending-stages.js';
import type { Files } from '../storage/files.js';
import { listFileNotices, listLeftOut } from '../texts/file-notices.js';
import type { Context } from './context.js';
import { isDiskError } from './disk-error.js';
import { nameActor } from './env.js';
import { createNoteRest } from './note-rest.js';
import { createProgressView } from './progress.js';
import { endOnSignal, endSoon } from './signals.js';
import { type HeldJob, jobDirectoryOf, withJob } from './with-job.js';

/** Reads all input of a job and plans what is new, behind the job's lock; sends nothing, and leaves the guards to the caller. */
export async function planJob(context: Context, job: Job, isAgain: boolean): Promise<PlanOutcome> {
  context.name({ job: job.name });
  return endOnSignal(context, () =>
    withJob(context, jobDirectoryOf(job), (held) =>
      endSoon(context, 'plan the job', async () => {
        const { state } = held.registry;
        const history = await readHistory(context.env.files, held.directory, state);
        // As `run` would send it.
        const resumed = state.listUnfinished().map(({ plan }) => plan);
        const startedAt = context.env.clock.now();
        return planNewInput(context, job, held, { history, isAgain, isResumed: false, resumed, startedAt });
      }),
    ),
  );
}

/** When a command was started; `resumed`: the runs that it has finished, or would. */
interface Started {
  readonly startedAt: number;
  readonly resumed: readonly string[];
}

/** The day of which a start of a job is, where it is of one: another than that of `startedAt` is said. */
function chooseDay(
  { env, log }: Context,
  registry: RegistryState,
  { job, isAgain, ...start }: Started & { job: Job; isAgain: boolean },
): number {
  const { startedAt } = start;
  if (job.repeat !== 'per-day' || isAgain) return startedAt;
  const last = findSameNight(registry, { ...start, nowMs: env.clock.now() });
  if (last === undefined) return startedAt;
  const { plan: run, begun, ended } = last;
  if (begun.occurrence !== nameDay(startedAt)) {
    const why = ended?.state === 'finished' ? 'ended less than an hour ago' : 'is not finished';
    log.warn(`this start is of ${begun.occurrence}: run ${run} of that day ${why}`, { event: 'same-day', run });
  }
  return noonOf(begun.occurrence);
}

/** Plans what is new for a job, shows progress, and reports the files that it omitted. `isResumed`: the command has just finished a run. */
export async function planNewInput(
  context: Context,
  loaded: Job,
  { lock, registry }: HeldJob,
  {
    history,
    isAgain,
    isResumed,
    ...start
  }: Started & { history: readonly PastRun[]; isAgain: boolean; isResumed: boolean },
): Promise<PlanOutcome> {
  const { env, log, terminal } = context;
  const { files, clock } = env;
  const { directories } = registry;
  const cameWith = listCameWith(registry.state, { ...start, nowMs: clock.now() });
  const day = chooseDay(context, registry.state, { job: loaded, isAgain, ...start });
  const job = fixDates(loaded, clock.now());
  await assertListsKept(files, job, { history, task: 'plan the job' });
  const view = createProgressView(terminal, log);
  const occurrence = nameOccurrence(isAgain ? 'always' : job.repeat, registry, day);
  const rows = new JobRows(files, registry.state, history);
  try {
    const deps = await createPlanDeps(context, view.planned);
    const outcome = await makePlan(job, deps, {
      directories,
      occurrence,
      isAbandoned: (id) => registry.state.isAbandoned(id),
      nowMs: clock.now(),
      cameWith,
      assertHeld: () => lock.assertHeld(),
      ownersFor: ({ id }) => new OwnerLookup(rows, { id, job, occurrence }),
      findTaken: (kind, digest, isOfAnyTime = false) =>
        registry.findTaken({ job, occurrence: isOfAnyTime ? '' : occurrence }, { kind, digest }),
      noteRest: createNoteRest({ files, history, registry: registry.state, job, loaded, nowMs: clock.now() }),
    });
    if (outcome.made !== undefined) await assertOwned({ files, registry: registry.state, history }, outcome.made);
    const { leftOut } = outcome;
    const isAsked = job.steps.some((step) => isRowStep(step) && step.input.required === true);
    const run = outcome.made === undefined && isAsked ? cameWith.at(-1) : undefined;
    if (run !== undefined && !start.resumed.includes(run))
      log.warn(`no file is new: run ${run}, which has just ended, took what came`, { run });
    const isOnScreen = terminal.isStdoutTerminal && terminal.isStderrTerminal;
    // Where there is nothing else to say, the command itself names them.
    if (outcome.made !== undefined || isResumed || !isOnScreen)
      for (const line of listLeftOut(leftOut)) log.info(`skipped: ${line}`);
    logNotices(outcome.made?.plan.steps ?? [], context);
    const { plan } = outcome.made ?? {};
    const warnings =
      plan === undefined ? [] : [...warnOfJob(job, terminal.env.TZ), ...warnOfGrown(plan, registry.state)];
    if (plan !== undefined) warnings.push(...(await warnOfWaiting(plan, { files, nowMs: clock.now(), directories })));
    for (const warning of warnings) log.warn(warning);
    return outcome;
  } catch (error) {
    // The process that took over the job removes our unfinished files.
    if (isDiskError(error)) await lock.assertHeld();
    throw error;
  } finally {
    await rows.close();
    view.close();
  }
}

/** Adapters of the planner: the disk and the readers. */
export async function createPlanDeps(
  { env: { files, owner, clock, loadReader }, log, terminal, stop, emit }: Context,
  onProgress: PlanDeps['onProgress'] = () => {},
): Promise<PlanDeps> {
  const [reader, { spoolInput }] = await Promise.all([loadReader(), import('../input/text/byte-source.js')]);
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
  for (const notice of listFileNotices(steps, terminal.isStderrTerminal ? screen : undefined)) log.info(notice);
  for (const list of steps.flatMap(({ suppression }) => suppression)) {
    const warning = warnOfList(list);
    if (warning !== undefined) log.warn(warning);
  }
  for (const { warning } of steps.flatMap(({ funnel = [] }) => funnel)) if (warning !== undefined) log.warn(warning);
}

/**
 * What a job says and does not do: a text names a word such as STOP, though no list has who answered it; codes leave outside of a window; a
 * stage waits for receipts that nobody asks for; and a TZ of the machine that is none.
 */
export function warnOfJob({ steps }: Job, TZ: string | undefined): string[] {
  const hasWindow = steps.some((step) => step.kind === 'sms' && step.window !== undefined);
  const ofZone = warnOfZone(TZ);
  const ofSteps = steps.flatMap((step, index) => {
    if (hasWindow && step.kind === 'verification.start')
      return [`step ${index + 1} (${step.kind}): a window holds SMS only; one-time codes leave at any hour`];
    if (step.kind !== 'sms') return [];
    const isUnheard = step.dlrCallbackUrl === undefined && step.ramp?.some(needsReceipts) === true;
    const unheard = `step ${index + 1} (sms): a stage of its ramp passes by receipts alone, and service.dlrCallbackUrl is missing: if the account has no address for them either, the run stops after that stage`;
    const word = step.suppress === undefined ? findOptOutWord(step.template.text) : undefined;
    const what = `step ${index + 1} (sms): its text names ${word}, and no list has who answers so`;
    const unlisted = `${what}: they are written to all the same. Name one with optOuts; volley listen --opt-outs writes it`;
    return [...(isUnheard ? [unheard] : []), ...(word === undefined ? [] : [unlisted])];
  });
  return ofZone === undefined ? ofSteps : [ofZone, ...ofSteps];
}

/** Files that the job took before, with other rows: only of an SMS it is known who had it. */
function warnOfGrown({ job, occurrence, steps }: Plan, { records }: RegistryState): string[] {
  const placeOf = (file: string, kind: string, account: string) => JSON.stringify([file, kind, account]);
  const taken = new Map<string, string>();
  for (const { plan, begun } of records)
    for (const { file, kind, account } of begun?.occurrence === occurrence ? begun.files : [])
      taken.set(placeOf(file, kind, account), plan);
  return steps.flatMap(({ number, kind, inputs }) => {
    const what = isRowKind(kind) ? ROW_KINDS[kind].onceMore : undefined;
    if (what === undefined) return [];
    const account = accountOfKind(job, kind);
    const runOf = ({ file }: { file: string }) => taken.get(placeOf(file, kind, account));
    const grown = inputs.filter((input) => runOf(input) !== undefined);
    const [only] = grown;
    if (only === undefined) return [];
    const files = listMost(
      grown.map(({ file }) => file),
      MOST_NAMED,
    );
    const have =
      grown.length === 1
        ? `has other rows now, and those who stood in it when run ${runOf(only)} took it`
        : 'have other rows now, and those who stood in them when earlier runs took them';
    return [`step ${number} (${kind}): ${files} ${have} ${what}: only of SMS is it known who had one`];
  });
}

const MOST_NAMED = 5;

/** Messages that the service holds, where people of a plan had others from the job: who corrects a text, or a time, may want them back. */
async function warnOfWaiting(
  { id, steps }: Plan,
  { files, nowMs, directories }: { files: Files; nowMs: number; directories: { readonly jobDirectory: string } },
): Promise<string[]> {
  if (!steps.some(({ had }) => had?.otherText !== undefined || had?.rule === 'send')) return [];
  const waiting = await listOthersWaiting(files, { jobDirectory: directories.jobDirectory, except: id, nowMs });
  return waiting.map(({ run, directory, said }) => {
    const so = `some of those to send had a message from this job, and of run ${run} ${said}`;
    return `${so}: \`volley cancel ${quoteWord(directory)}\` takes them back`;
  });
}

/** Distinguishes two plans for the same files; see `Plan.occurrence`. */
function nameOccurrence(repeat: Job['repeat'], { occurrences }: Registry, dayMs: number): string {
  if (repeat === 'never') return '';
  return repeat === 'always' ? nameAgain(Math.max(0, ...occurrences.map(readAgain)) + 1) : nameDay(dayMs);
}
