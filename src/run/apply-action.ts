import type { Verdict } from '../domain.js';
import { ServiceError } from '../errors.js';
import type { ActionStep, Job, ServiceSettings } from '../job/job.js';
import type { RunState } from '../journal/replay.js';
import type { Plan } from '../plan/file.js';
import { exitCodeOf } from '../report/exit-code.js';
import { balanceOf } from '../report/progress.js';
import { addBalances } from '../report/summary.js';
import type { RunFigures } from '../steps/action.js';
import { inDoubt } from '../steps/outcomes.js';
import { actionKindOf } from '../steps/table.js';
import type { AreaUse } from './area-use.js';
import { callOnLane } from './call-on-lane.js';
import type { Lock } from './lock.js';
import type { Journal, RunDeps } from './ports.js';
import type { StopReason, StopSwitch } from './stop.js';

export interface ActionContext {
  readonly service: ServiceSettings;
  readonly deps: RunDeps;
  readonly journal: Journal;
  readonly lock: Lock;
  readonly stop: StopSwitch;
  readonly directory: string;
  readonly areas: AreaUse;
  readonly plan: Plan;
  readonly job: Pick<Job, 'failOn'>;
  readonly state: RunState;
  readonly number: number;
  /** A later step has rows to send. */
  readonly hasWorkAfter: boolean;
}

/**
 * Gives a step without rows its turn, where it has one: when it is due as the run stands, and either was not done since
 * the last entry of a step before it, or brings about what later rows rely on. What it changes has an entry before and behind.
 */
export async function applyAction(step: ActionStep, context: ActionContext): Promise<void> {
  const { deps, journal, lock, stop, state, number } = context;
  const kind = actionKindOf(step);
  const figures = describeRun(context);
  if (!kind.isDue(step, figures)) return;
  if (isDone(context, kind.isStanding) && !(kind.isStanding && context.hasWorkAfter)) return;

  // Once the run is stopping, an action has until what is in flight is no longer awaited.
  const signal = stop.isRequested ? stop.nothingMore : stop.nothingNew;
  const { giveUpAfterSeconds } = context.service;
  const patienceSeconds = kind.isEssential ? giveUpAfterSeconds : Math.min(giveUpAfterSeconds, PATIENCE_SECONDS);
  const lane = { area: kind.area, limits: step.limits, signal, giveUpAfterMs: patienceSeconds * 1000 };
  const perform = () =>
    callOnLane({ ...context, ...lane }, (call) =>
      kind.perform(step, {
        call,
        figures,
        sleep: (delayMs) => deps.clock.sleep(delayMs, signal),
        begin: async () => {
          await lock.assertHeld();
          await journal.append({ type: 'action', step: number, at: deps.clock.now() });
        },
      }),
    );
  const { verdict, stopReason } = await perform().then(
    (verdict) => ({ verdict, stopReason: verdict.status === 'accepted' ? undefined : ('refused' as const) }),
    (error: unknown) => judgeError(error, signal.aborted, state.step(number).action?.isOpen === true),
  );
  await journal.append({ type: 'acted', step: number, at: deps.clock.now(), verdict });
  if (stopReason === undefined) return;
  const detail = `step ${number} (${step.kind}): ${verdict.reason}`;
  if (kind.isEssential) stop.request(stopReason, detail);
  else deps.onNotice(`Not done: ${detail}`);
}

/** A run that is over does not wait longer than this for what nothing relies on. */
const PATIENCE_SECONDS = 60;

/** In doubt counts as done where doing it again would be seen twice. */
function isDone({ state, plan, number }: ActionContext, isStanding: boolean): boolean {
  const { action, lastEvent } = state.step(number);
  const isKept = action?.verdict?.status === 'accepted' || (action?.verdict?.status === 'in-doubt' && !isStanding);
  const isLatest = plan.steps.every(
    (other) => other.number >= number || state.step(other.number).lastEvent < lastEvent,
  );
  return isKept && isLatest;
}

function judgeError(
  error: unknown,
  isStopping: boolean,
  isOpen: boolean,
): { verdict: Verdict; stopReason: StopReason | undefined } {
  if (error instanceof ServiceError) {
    const { code, message, serviceCode } = error;
    if (code === 'in-doubt') return { verdict: inDoubt('no-answer', message), stopReason: 'refused' };
    const verdict = { status: 'rejected', code: serviceCode ?? code, reason: message } as const;
    const isRefusal = code === 'refused' || code === 'bad-answer';
    return { verdict, stopReason: isRefusal ? 'refused' : code };
  }
  if (!isStopping) throw error;
  const reason = 'the run was stopping';
  return isOpen
    ? { verdict: inDoubt('no-answer', reason), stopReason: 'interrupted' }
    : { verdict: { status: 'rejected', code: 'not-sent', reason }, stopReason: 'interrupted' };
}

function describeRun({ plan, job, state, stop, directory, deps }: ActionContext): RunFigures {
  const balance = addBalances(plan.steps.map((step) => balanceOf(step, state)));
  const actions = plan.steps.map(({ number }) => state.step(number).action?.verdict);
  return {
    job: plan.job.name,
    plan: plan.id,
    directory,
    stop: stop.reason,
    startedAtMs: state.firstOpen?.at ?? deps.clock.now(),
    nowMs: deps.clock.now(),
    balance,
    exitCode: exitCodeOf({ reason: stop.reason?.reason ?? 'finished', balance, actions }, job.failOn),
  };
}
