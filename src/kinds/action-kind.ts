import type { Area } from '../domain/areas.js';
import type { Balance, Verdict } from '../domain/row.js';
import type { ActionStep } from '../job/job.js';
import type { CallService } from '../service/endpoint.js';

/** What a kind of step without rows must say. Pure: it reaches the service through `call` alone. */
export interface ActionKind<S extends ActionStep = ActionStep> {
  readonly area: Area;
  /** What it brings about must hold while later steps send: it is done again when a run goes on. */
  readonly isStanding: boolean;
  /** A refusal stops the run: what follows relies on it. */
  readonly isEssential: boolean;
  /** Whether it has its turn, given how the run stands and what became of the steps without rows before it. */
  isDue(step: S, figures: RunFigures, earlier: readonly EarlierAction[]): boolean;
  /** For a person who looks at the plan. */
  describe(step: S): { readonly to: string; readonly text: string };
  /**
   * Does it. `begin` is awaited before anything is changed, and not before: what was begun and has no outcome may have been done.
   * Throws the ServiceErrors of `call`; the applier makes verdicts of them.
   */
  perform(step: S, context: ActionContext): Promise<Verdict>;
}

/** A step without rows that stands before another in the job. */
export interface EarlierAction {
  readonly step: ActionStep;
  /** Of the last time that it had its turn in this run; undefined where it had none. */
  readonly verdict: Verdict | undefined;
}

export interface ActionContext {
  /** Any failure is a ServiceError: also that the run ends before the call had its turn (`unavailable`). */
  readonly call: CallService;
  readonly figures: RunFigures;
  /** This step was begun before in this run: what it is to change, it may have changed. */
  readonly wasBegun: boolean;
  readonly begin: () => Promise<void>;
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** How a run stands at the moment of an action. */
export interface RunFigures {
  readonly job: string;
  readonly plan: string;
  readonly directory: string;
  /** Undefined while nothing has stopped the run. */
  readonly stop: { readonly reason: string; readonly detail: string } | undefined;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly balance: Balance;
  /** The exit code that the run would end with now. */
  readonly exitCode: number;
}
