import type { Area, Balance, Verdict } from '../domain.js';
import type { ActionStep } from '../job/job.js';
import type { CallService } from '../service/endpoint.js';

/** What a kind of step without rows must say. Pure: it reaches the service through `call` alone. */
export interface ActionKind<S extends ActionStep = ActionStep> {
  readonly area: Area;
  /** What it brings about must hold while later steps send: it is done again when a run goes on. */
  readonly isStanding: boolean;
  /** A refusal stops the run: what follows relies on it. */
  readonly isEssential: boolean;
  /** Whether it has its turn, given how the run stands. */
  isDue(step: S, figures: RunFigures): boolean;
  /** For a person who looks at the plan. */
  describe(step: S): { readonly to: string; readonly text: string };
  /**
   * Does it. `begin` is awaited before anything is changed, and not before: what was begun and has no outcome may have been done.
   * Throws the ServiceErrors of `call`; the applier makes verdicts of them.
   */
  perform(step: S, context: ActionContext): Promise<Verdict>;
}

export interface ActionContext {
  readonly call: CallService;
  readonly figures: RunFigures;
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
