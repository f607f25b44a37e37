import { join } from 'node:path';
import { encodePlan, PLAN_FILE, PLAN_FORMAT, type Plan, type PlannedStep } from './format/plan-file.js';
import type { RunDirectories } from './format/run-directories.js';
import { writeRunFile } from './format/run-record.js';
import { assertFitsSheets, checkGuards } from './guards.js';
import type { PlanDeps } from './plan-deps.js';
import type { PlanStepContext } from './plan-step.js';
import { loadPrices } from './prices/missing-prices.js';
import type { ProblemList } from './problems.js';
import { keepDraft, replaceDraft } from './replace-draft.js';

export interface MadePlan {
  readonly plan: Plan;
  readonly directory: string;
}

/** Where a plan gets its directory. The caller holds the job's lock; `assertHeld` throws once it is lost: then no plan gets its name. */
export interface PlanPlace {
  readonly directories: RunDirectories;
  readonly assertHeld: () => Promise<void>;
  /** The time by the wall clock: times of the job must still lie ahead. */
  readonly nowMs: number;
}

/** What a plan says of itself before its steps are planned. */
export type PlanHead = Pick<Plan, 'id' | 'occurrence' | 'job' | 'retryOf' | 'testOf'>;

/**
 * Writes a plan into the directory of its id, in place of one that was never applied; no directory is left where it fails. `planSteps`
 * plans the steps into `scratch`, each in a context that `begin` gives; where it returns undefined, there is no plan.
 */
export async function writeNewPlan(
  head: PlanHead,
  { deps, problems, place }: { deps: PlanDeps; problems: ProblemList; place: PlanPlace },
  planSteps: (
    begin: () => PlanStepContext,
    paths: { scratch: string; directory: string },
  ) => Promise<readonly PlannedStep[] | undefined>,
): Promise<MadePlan | undefined> {
  const { files, plannedBy } = deps;
  const { id, job, testOf } = head;
  const { directories, assertHeld, nowMs } = place;
  const { jobDirectory } = directories;
  const directory = directories.place(id, nowMs);
  const scratch = join(jobDirectory, `.${id}-${deps.processId}.part`);
  await files.remove(scratch);
  await files.makeDirectory(scratch);
  try {
    const prices = await loadPrices(job, { deps, problems });
    const people = testOf === undefined ? await deps.openPeople?.(head, jobDirectory) : undefined;
    const { notAfter, service } = job;
    const { answerSeconds } = service.timeouts;
    const common = { planId: id, directory: scratch, deps, problems, prices, nowMs, notAfter, answerSeconds };
    const steps = await planSteps(() => ({ ...common, had: people?.() }), { scratch, directory });
    problems.throwIfAny();
    if (steps === undefined) return undefined;
    assertFitsSheets(job, steps);
    const made = { ...head, steps, ...(prices === undefined ? {} : { prices: prices.planned }) };
    // Rows of another plan would seem to be claimed by one that a guard refuses.
    if (head.retryOf !== undefined || testOf !== undefined) checkGuards(made, job.guards);
    const plan = await keepDraft(files, directory, { format: PLAN_FORMAT, ...made, plannedBy });
    await writeRunFile(files, scratch, { plan: plan.id });
    await files.writeWhole(join(scratch, PLAN_FILE), encodePlan(plan));
    await files.syncDirectory(scratch);
    await assertHeld();
    await replaceDraft(files, scratch, directory);
    return { plan, directory };
  } finally {
    await files.remove(scratch);
  }
}
