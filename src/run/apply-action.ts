import { sumOf } from '../domain/count-of.js';
import { ServiceError } from '../domain/errors.js';
import type { Verdict } from '../domain/row.js';
import type { ActionCode, NotSentCode } from '../domain/row-codes.js';
import { type ActionStep, isRowStep, type Job } from '../job/job.js';
import type { Stop } from '../journal/entry-format.js';
import type { RunState } from '../journal/replay.js';
import { actionKindOf } from '../kinds/kinds.js';
import { inDoubt } from '../kinds/outcomes.js';
import type { EarlierAction, RunFigures } from '../kinds/step-kind.js';
import { sumHeld } from '../plan/tally.js';
import { exitCodeOf } from '../report/exit-code.js';
import { balanceOfRun } from '../report/run-rows.js';
import { LaneStopped } from '../throttle/gate.js';
import { StepNotices } from './run-events.js';
import { callOnLane, isTurnedAway } from './send/call-on-lane.js';
import type { OfRun } from './send/send-context.js';
import type { StopReason } from './stop.js';

interface ActionTurn extends OfRun {
  readonly job: Pick<Job, 'failOn'>;
  readonly state: RunState;
  readonly number: number;
  /** A later step has rows to send. */
  readonly hasWorkAfter: boolean;
}

/**
 * Runs a step without rows, if it is due: either it was not done since the last entry of an earlier step, or later
 * rows rely on its effect. A change has a journal entry before and after it.
 */
export async function applyAction(step: ActionStep, context: ActionTurn): Promise<void> {
  const { stop, deps, state, number } = context;
  const kind = actionKindOf(step);
  if (!kind.isDue(step, describeRun(context), listEarlier(context))) return;
  if (isDone(context, kind.isEssential) && !(kind.isEssential && context.hasWorkAfter)) return;
  if (!stop.isRequested) {
    await performUntil(step, context, { waiting: stop.nothingNew, inFlight: stop.nothingMore });
    const isCutOff = stop.isRequested && state.step(number).action?.verdict?.code === NOT_SENT;
    if (!isCutOff || !kind.isDue(step, describeRun(context), listEarlier(context))) return;
  }
  // While the run stops, other requests may hang: an action has its own timeout.
  const over = new AbortController();
  const done = new AbortController();
  void deps.clock.sleep(AFTER_STOP_MS, done.signal).then(() => over.abort());
  try {
    await performUntil(step, context, { waiting: over.signal, inFlight: over.signal });
  } finally {
    done.abort();
  }
}

async function performUntil(
  step: ActionStep,
  context: ActionTurn,
  { waiting, inFlight }: { waiting: AbortSignal; inFlight: AbortSignal },
): Promise<void> {
  const { deps, journal, lock, stop, state, number } = context;
  const kind = actionKindOf(step);
  const { giveUpAfterSeconds } = context.service;
  const patienceSeconds = kind.isEssential ? giveUpAfterSeconds : Math.min(giveUpAfterSeconds, PATIENCE_SECONDS);
  const notices = new StepNotices(deps, { number, kind: step.kind });
  const lane = { area: kind.area, limits: step.limits, signal: waiting, abandon: inFlight, notices };
  const perform = () =>
    callOnLane({ ...context, ...lane, giveUpAfterMs: patienceSeconds * 1000 }, (call) =>
      kind.perform(step, {
        call: (endpoint, input) =>
          call(endpoint, input).catch(async (error: unknown) => {
            if (isTurnedAway(error, endpoint)) await recordNotDone(context);
            return reportEnd(error);
          }),
        figures: describeRun(context),
        wasBegun: state.step(number).action?.wasBegun === true,
        sleep: (delayMs) => deps.clock.sleep(delayMs, waiting),
        begin: async () => {
          await lock.assertHeld();
          await journal.append({ type: 'action', step: number, at: deps.clock.now() });
        },
      }),
    );
  const { verdict, stopReason, fault } = await perform().then((verdict): Judged => {
    return { verdict, stopReason: verdict.status === 'accepted' ? undefined : 'refused' };
  }, judgeError);
  await journal.append({ type: 'acted', step: number, at: deps.clock.now(), verdict });
  if (verdict.status === 'in-doubt') notices.noteInDoubt(undefined, verdict);
  if (stopReason === undefined) return;
  const detail = `step ${number} (${step.kind}): ${verdict.reason}`;
  const isRefused = verdict.status !== 'in-doubt';
  if (isRefused && (stop.isRequested || !kind.isEssential))
    deps.onNotice(`Not done: ${detail}`, { step: number, kind: step.kind });
  if (kind.isEssential) stop.request(stopReason, detail, fault);
}

/** As long as requests in flight are awaited after a signal, so that both fit into a pod's grace period. */
const AFTER_STOP_MS = 30_000;
const NOT_SENT: ActionCode = 'not-sent';

/** If the lock was lost and no process took it, the next run then knows that nothing was changed. */
async function recordNotDone({ deps, journal, number }: ActionTurn): Promise<void> {
  const verdict = { status: 'rejected', code: NOT_SENT, reason: 'this process lost its lock on the job' } as const;
  await journal.append({ type: 'acted', step: number, at: deps.clock.now(), verdict });
}

/** A call that a stopping run refused was certainly not sent. */
function reportEnd(error: unknown): never {
  if (!(error instanceof LaneStopped)) throw error;
  throw new ServiceError('unavailable', 'the run was stopping', { serviceCode: NOT_SENT });
}

function listEarlier({ plan, state, number }: ActionTurn): EarlierAction[] {
  return plan.job.steps.slice(0, number - 1).flatMap((step, index) => {
    if (isRowStep(step)) return [];
    return { step, verdict: state.step(index + 1).action?.verdict };
  });
}

/** A finished run waits no longer than this for an inessential action. */
const PATIENCE_SECONDS = 60;

/** In doubt counts as done if repeating it would be visible. */
function isDone({ state, plan, number }: ActionTurn, isEssential: boolean): boolean {
  const { action, lastEvent } = state.step(number);
  const isKept = action?.verdict?.status === 'accepted' || (action?.verdict?.status === 'in-doubt' && !isEssential);
  const isLatest = plan.steps.every(
    (other) => other.number >= number || state.step(other.number).lastEvent < lastEvent,
  );
  return isKept && isLatest;
}

interface Judged extends Pick<Stop, 'fault'> {
  readonly verdict: Verdict;
  readonly stopReason: StopReason | undefined;
}

function judgeError(error: unknown): Judged {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message, serviceCode, fault } = error;
  if (code === 'in-doubt') return { verdict: inDoubt('no-answer', message), stopReason: 'refused', fault: 'unclear' };
  const verdict = { status: 'rejected', code: serviceCode ?? code, reason: message } as const;
  return { verdict, stopReason: code === 'refused' || code === 'bad-answer' ? 'refused' : code, fault };
}

function describeRun({ plan, job, state, stop, directory, deps }: ActionTurn): RunFigures {
  const balance = balanceOfRun(plan, state, true);
  const actions = plan.steps.map(({ number }) => state.step(number).action?.verdict);
  const count = (code: NotSentCode) => sumOf(plan.steps.map(({ number }) => state.step(number).givenUpRows[code] ?? 0));
  return {
    job: plan.job.name,
    plan: plan.id,
    directory,
    stop: stop.reason,
    startedAtMs: state.firstOpen?.at ?? deps.clock.now(),
    nowMs: deps.clock.now(),
    balance,
    exitCode: exitCodeOf(
      {
        reason: stop.reason?.reason ?? 'finished',
        balance,
        optedOut: count('opted-out'),
        tooLate: count('too-late'),
        held: sumHeld(plan),
        actions,
      },
      job.failOn,
    ),
  };
}
