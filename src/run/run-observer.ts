import type { Job } from '../job/job.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import type { Lane } from '../throttle/lane.js';
import type { AttemptNote, RunLaneOptions } from './run-deps.js';

/** Watches the runs of one command, for metrics. It throws nothing, and changes nothing. */
export interface RunObserver {
  /** Called first, as soon as the job is known. */
  onJob(job: Job): void;
  /** The command has the job for itself. */
  onBegin(jobDirectory: string): Promise<void>;
  /** All input was read, in this time. */
  onPlan(plan: Plan, seconds: number): void;
  /** Called before anything of a run is sent. */
  onRun(run: { readonly directory: string; readonly plan: Plan }): Promise<void>;
  /** Requests are sent through this lane from now on. */
  onLane(options: RunLaneOptions, lane: Lane): void;
  onAttempt(attempt: AttemptNote): void;
  /** A run has its outputs. */
  onReport(summary: Summary): void;
  /** Called at the end, with the rows in doubt of all runs of the job. */
  onOpenDoubt(openDoubt: OpenDoubt): void;
}
