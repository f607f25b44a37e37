import type { Area } from '../domain/areas.js';
import type { Balance, Verdict } from '../domain/row.js';
import type { ActionStep } from '../job/job.js';
import type { CallService } from '../service/endpoint.js';

/** The interface of a kind of step without rows. Pure: it reaches the service through `call` alone. */
export interface ActionKind<S extends ActionStep = ActionStep> {
  readonly area: Area;
  /** Later steps rely on its effect: a refusal stops the run, and it is repeated when a run resumes. */
  readonly isEssential: boolean;
  /** Whether it should run, given the run's state and the outcomes of earlier action steps. */
  isDue(step: S, figures: RunFigures, earlier: readonly EarlierAction[]): boolean;
  /** What it does, for a person who looks at the plan. */
  describe(step: S): { readonly to: string; readonly text: string };
  /**
   * Performs the action. Awaits `begin` right before it changes anything: what was begun and has no outcome may have
   * been done. Throws the ServiceErrors of `call`; the applier turns them into verdicts.
   */
  perform(step: S, context: ActionContext): Promise<Verdict>;
}

/** A step without rows that stands before another in the job. */
export interface EarlierAction {
  readonly step: ActionStep;
  /** The verdict of its last turn in this run; undefined if it had none. */
  readonly verdict: Verdict | undefined;
}

export interface ActionContext {
  /** Every failure is a ServiceError, also when the run ends before the call's turn (`unavailable`). */
  readonly call: CallService;
  readonly figures: RunFigures;
  /** This step was begun before in this run, and may have made its change. */
  readonly wasBegun: boolean;
  readonly begin: () => Promise<void>;
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** The state of a run at an action. */
export interface RunFigures {
  readonly job: string;
  readonly plan: string;
  readonly directory: string;
  /** Why the run has stopped; undefined while nothing has stopped it. */
  readonly stop: { readonly reason: string; readonly detail: string } | undefined;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly balance: Balance;
  /** The exit code if the run ended now. */
  readonly exitCode: number;
}
