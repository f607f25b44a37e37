import { join } from 'node:path';
import { closing, firstFailure } from '../domain/closing.js';
import { InternalError, quoteWord, UserError } from '../domain/errors.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { JOURNAL_VERSION, type OpenEntry, type Stop } from '../journal/entry-format.js';
import { readRunState } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import { continueJournal } from '../journal/writer.js';
import { kindOf } from '../kinds/kinds.js';
import { JOURNAL_FILE, type Plan, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import { assertPlanWhole } from '../plan/format/planned-files.js';
import { assertInPlace } from '../plan/format/run-directories.js';
import { listTimeFaults } from '../plan/guards.js';
import { endInFlight, RUN_ENDED } from '../registry/append-to-run.js';
import { isLockLost, type Lock } from '../storage/lock.js';
import { applyAction } from './apply-action.js';
import { hasWork } from './resume.js';
import type { Journal, RunDeps } from './run-deps.js';
import { StepNotices } from './run-events.js';
import { awaitWorkers, createSendingHours, isOver, stopAfter, tooLate } from './run-times.js';
import { provisionStep } from './send/provision-step.js';
import { type PartToSend, RequestReader } from './send/request-reader.js';
import { createAreaUse, type StepContext } from './send/send-context.js';
import { createSendingStages, passStage, type StagePass } from './send/sending-stages.js';
import { giveUpAll, listUnsent } from './send/withhold.js';
import { StepRunner } from './step-runner.js';
import type { StopSwitch } from './stop.js';

export interface ApplyPlanOptions extends PlanAt {
  /** The job as it is now: its service, limits and guards hold; what is sent is the plan's alone. */
  readonly job: Job;
  readonly lock: Lock;
  readonly stop: StopSwitch;
  /** How long ago a process before this one, or another run, may have sent at most; undefined where none had the job. */
  readonly othersSentMsAgo?: number | undefined;
  /** Sends in place of this process alone: workers, over a database. */
  readonly sender?: StepSender | undefined;
  /** A person lets the stage pass that waits. */
  readonly pass?: StagePass | undefined;
  /** Called once the journal exists, before anything is sent, to record that the run has begun. */
  readonly announce: () => Promise<void>;
}

/** Another way to send the requests of steps. */
export interface StepSender {
  /** Called first. For the journal: how long others may begin requests of the run after this process has died, and where. */
  lead(): Promise<Required<Pick<OpenEntry, 'leaseMs' | 'lead'>>>;
  /**
   * What was in flight when the process before this one ended; called before any step. False: nothing knows of it any more.
   * `stop` ends the wait for workers of then, and leaves it to the next process.
   */
  takeOver(state: RunState, journal: Journal, stop: AbortSignal): Promise<boolean>;
  sendStep(context: StepContext): Promise<void>;
}

/**
 * Applies a plan, or resumes where an earlier process ended, until every request is settled or `stop` is requested.
 * Requests that were in flight when that process died are put in doubt, or sent again where that is safe.
 */
export async function applyPlan(options: ApplyPlanOptions, deps: RunDeps): Promise<Stop> {
  const { directory, plan, lock, stop } = options;
  const path = join(directory, JOURNAL_FILE);
  const { state, end } = await readRunState(deps.files, path);
  assertSamePlan(state, plan, path);
  if (state.isFinished) return { reason: 'finished', detail: '' };
  assertTimes(options, state, deps.clock);
  assertWorkersKnow(options);
  await assertPlanWhole(deps.files, directory, plan).catch(async (error: unknown) => {
    // Files of an unstarted plan that another process is replacing are not damaged.
    await assertInPlace(deps.files, directory, plan);
    throw error;
  });

  // A runner that lost the lock while reading has read lines of its successor, and must not continue from them.
  await lock.assertHeld();
  if (end.tornBytes > 0) {
    deps.onNotice(`The last ${end.tornBytes} bytes of the journal are incomplete and ignored (a crash while writing)`);
  }
  const before = { leaseMs: state.leaseMs, isInFlight: state.isInFlight };
  const areas = createAreaUse(deps.clock, { state, othersSentMsAgo: options.othersSentMsAgo });
  const journal = await continueJournal(deps.files, path, { end, plan: plan.id, lock, state });
  let forgetEnd = () => {};
  try {
    await assertInPlace(deps.files, directory, plan);
    const { host, pid } = deps.owner;
    const opened = { type: 'open', version: JOURNAL_VERSION, plan: plan.id, at: deps.clock.now(), host, pid } as const;
    await journal.append({ ...opened, ...(await options.sender?.lead()) });
    // There is a journal now: one that goes from here on is missed (`watchJournal`).
    await lock.assertHeld();
    await options.announce();
    await passStage(plan, state, { pass: options.pass, journal, nowMs: deps.clock.now() });
    const isKnown = (await options.sender?.takeOver(state, journal, stop.nothingNew)) === true;
    const areWorkersDone = isKnown || (await awaitWorkers(before, { ...deps, signal: stop.nothingNew }));
    const mayQuery = !isOver(options.job, deps.clock);
    await closeInFlight(state, journal, { plan, deps, areWorkersAtIt: isKnown || !areWorkersDone, mayQuery });
    if (plan.steps.some((planned) => hasWork(planned, state))) forgetEnd = stopAfter(options.job, stop, deps.clock);
    await applySteps(options, deps, { state, journal, areas });
    const isTooLate = isOver(options.job, deps.clock) && (await giveUpLate(options, deps, { state, journal }));
    const ended: Stop = (isTooLate ? undefined : stop.reason) ?? { reason: 'finished', detail: '' };
    await lock.assertHeld();
    await journal.append({ type: 'close', at: deps.clock.now(), ...ended });
    return ended;
  } finally {
    forgetEnd();
    await journal.close();
  }
}

/** Past `notAfter`: gives up what is left of the run. True where rows of it came too late, and nothing else is left of it. */
async function giveUpLate(
  { directory, plan, job: { notAfter }, lock }: ApplyPlanOptions,
  deps: RunDeps,
  { state, journal }: { state: RunState; journal: Journal },
): Promise<boolean> {
  if (notAfter === undefined) return false;
  const verdict = tooLate(notAfter, 'had passed');
  for (const planned of plan.steps) {
    if (!hasWork(planned, state)) continue;
    const unsent = listUnsent(planned, state.step(planned.number), { directory, files: deps.files });
    const rows = await giveUpAll(unsent, verdict, { journal, lock, deps });
    if (rows > 0) new StepNotices(deps, planned).noteWithheld(rows, verdict);
  }
  const isAny = plan.steps.some(({ number }) => (state.step(number).givenUpRows['too-late'] ?? 0) > 0);
  return isAny && !plan.steps.some((planned) => hasWork(planned, state));
}

/** The job may have got a database since the plan was made. */
function assertWorkersKnow({ plan, job, sender }: ApplyPlanOptions): void {
  const hasWindow = job.steps.some((step) => step.kind === 'sms' && step.window !== undefined);
  const hasStages = plan.steps.some(({ stages }) => stages !== undefined);
  if (sender === undefined || !(hasWindow || hasStages)) return;
  throw new UserError(
    'bad-job',
    `Cannot send plan ${plan.id} over a database: it has ${hasWindow ? 'a window' : 'stages'}, which workers do not know`,
    { hint: 'Write cluster: { share: lane } in the job, or remove cluster; nothing was sent.' },
  );
}

async function applySteps(
  options: ApplyPlanOptions,
  deps: RunDeps,
  { state, journal, areas }: { state: RunState; journal: Journal; areas: StepContext['areas'] },
): Promise<void> {
  const { directory, plan, job, lock, stop } = options;
  const shared = { service: job.service, deps, journal, lock, stop, directory, areas, plan };
  let failure: unknown;
  for (const [index, planned] of plan.steps.entries()) {
    const step = stepOf(job.steps, planned);
    if (!isRowStep(step)) {
      const hasWorkAfter = plan.steps.slice(index + 1).some((later) => hasWork(later, state));
      await applyAction(step, { ...shared, job, state, number: planned.number, hasWorkAfter });
    } else if (!stop.isRequested && hasWork(planned, state)) {
      const progress = state.step(planned.number);
      const { maxFailedPercent } = job.guards;
      const send = options.sender?.sendStep ?? applyStep;
      await send({
        ...shared,
        planId: plan.id,
        kind: kindOf(step),
        step,
        planned,
        progress,
        maxFailedPercent,
        notAfter: job.notAfter,
      }).catch((thrown: unknown) => {
        const error = firstFailure(thrown);
        // Without journal or lock a run can do nothing more; otherwise the steps that always run come first.
        if (isFinal(error)) throw error;
        failure = error;
        stop.request('interrupted', `step ${planned.number} failed`);
      });
    }
  }
  if (failure !== undefined) throw failure;
}

/** Checks the times right before anything is sent: a plan may be applied long after it was made. */
function assertTimes({ directory, plan, job }: ApplyPlanOptions, state: RunState, clock: RunDeps['clock']): void {
  const left = plan.steps.filter((planned) => hasWork(planned, state) && planned.counts.planned > 0);
  const steps = left.map((planned) => ({ number: planned.number, step: stepOf(job.steps, planned) }));
  const isBegun = state.firstOpen !== undefined;
  // What is left of a run that was begun is given up then.
  if (isBegun && isOver(job, clock)) return;
  const faults = listTimeFaults(job, steps, clock.now());
  const [first] = faults;
  if (first === undefined) return;
  const nothing = isBegun ? 'Nothing more was sent.' : 'Nothing was sent.';
  const abandon = isBegun ? '' : ` let the plan go with \`volley abandon ${quoteWord(directory)}\`,`;
  // A run, and a plan of `volley retry`, keep their rows: no plan of the files has them.
  const rows = `then \`volley retry ${quoteWord(directory)} --only unprocessed\`, with --job and the job file, makes a plan of what is left.`;
  const again = isBegun || plan.retryOf !== undefined ? rows : 'and plan the job again.';
  throw new UserError('guard', `Cannot send plan ${plan.id}: ${first.where}: ${first.message}`, {
    hint: `${nothing} Change it in the job file,${abandon} ${again}`,
    problems: faults,
  });
}

function isFinal(error: unknown): boolean {
  if (error instanceof InternalError) return error.code === 'write-failed';
  return isLockLost(error);
}

function stepOf(steps: readonly Step[], { number, kind }: PlannedStep): Step {
  const step = steps[number - 1];
  if (step?.kind === kind) return step;
  throw new InternalError('unexpected', `Cannot apply step ${number}: the job has no such ${kind} step`);
}

/** Closes requests in flight, as far as the service cannot be asked for them at the turn of their step. */
async function closeInFlight(
  state: RunState,
  journal: Journal,
  { plan, deps, areWorkersAtIt, mayQuery }: { plan: Plan; deps: RunDeps; areWorkersAtIt: boolean; mayQuery: boolean },
): Promise<void> {
  for (const planned of plan.steps) {
    const { number } = planned;
    // Workers have the requests of rows; what a step without rows does, it does in this process.
    if (areWorkersAtIt && isRowStep(stepOf(plan.job.steps, planned))) continue;
    const { entries, inDoubt } = endInFlight(plan, state, { number, at: deps.clock.now(), mayQuery });
    for (const entry of entries) await journal.append(entry);
    if (entries.length > 0 && inDoubt !== 0) new StepNotices(deps, planned).noteInDoubt(inDoubt, RUN_ENDED);
  }
}

function assertSamePlan(state: RunState, plan: Plan, path: string): void {
  const open = state.firstOpen;
  if (open === undefined) return;
  if (open.version !== JOURNAL_VERSION) {
    throw new UserError(
      'bad-plan',
      `Cannot read ${path}: its version is ${open.version}, expected ${JOURNAL_VERSION}`,
      { hint: 'Finish the run with the version of volley that began it.' },
    );
  }
  if (open.plan !== plan.id) {
    throw new InternalError('journal-damaged', `Cannot resume: ${path} belongs to plan ${open.plan}, not ${plan.id}`);
  }
}

/** Sends the open requests of a step, then those never begun, until all are settled or the run is to stop. */
async function applyStep(context: StepContext): Promise<void> {
  const { areas, deps, directory, kind, planned, progress, step, stop } = context;
  const provisionedIds = await provisionStep(context);
  if (provisionedIds === undefined) return;
  await using reader = closing(await RequestReader.open(deps.files, directory, planned, progress));
  const { area } = kind;
  const lane = deps.createLane({ area, limits: step.limits, ...areas.lastOf(area), signal: stop.nothingNew });
  try {
    const begun: PartToSend[] = [];
    for (const open of progress.open.values()) begun.push(await reader.readAgain(open));
    const { window } = step.kind === 'sms' ? step : { window: undefined };
    const hours = window && createSendingHours(window, deps.clock, context.service.timeouts);
    const stages = planned.stages && createSendingStages(step.ramp ?? [], context);
    const runner = { ...context, kind: kind.forRun?.() ?? kind, provisionedIds, hours, stages };
    await new StepRunner(runner, reader, lane).run(begun);
  } finally {
    await lane.close();
    areas.note(area);
  }
}
