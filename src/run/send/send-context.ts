import type { RowStep, ServiceSettings } from '../../job/job.js';
import type { StepProgress } from '../../journal/replay.js';
import type { StepKind } from '../../kinds/step-kind.js';
import type { PlannedStep } from '../../plan/format/plan-file.js';
import type { Lock } from '../../storage/lock.js';
import type { Journal, RunDeps } from '../run-deps.js';
import type { StopSwitch } from '../stop.js';
import type { AreaUse } from './area-use.js';

/** What sending a part of a request needs to know. */
export interface SendContext {
  readonly planId: string;
  readonly kind: StepKind;
  readonly step: RowStep;
  /** Ids of what was provisioned before the step's first request. */
  readonly provisionedIds: readonly string[];
  readonly service: ServiceSettings;
  readonly deps: RunDeps;
  readonly journal: Journal;
  readonly lock: Lock;
  readonly stop: StopSwitch;
}

/** What applying a step needs to know. */
export interface StepContext extends Omit<SendContext, 'provisionedIds'> {
  readonly directory: string;
  readonly planned: PlannedStep;
  readonly progress: StepProgress;
  readonly areas: AreaUse;
  readonly maxFailedPercent: number;
}
