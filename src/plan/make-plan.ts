import { dirname, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import type { Files } from '../storage/files.js';
import { writePlace } from './format/place.js';
import { encodePlan, PLAN_FILE, PLAN_FORMAT, type Plan, type PlannedStep } from './format/plan-file.js';
import type { PlanDeps } from './plan-deps.js';
import { planStep } from './plan-step.js';
import { ProblemList } from './problems.js';
import { replaceDraft } from './replace-draft.js';
import { type FindTaken, identifyPlan, type LeftOut, type Selection, selectInputs } from './select.js';
import { listTimeFaults } from './time-faults.js';

export interface PlanOutcome {
  /** Undefined when there is nothing new to take. */
  readonly made: { readonly plan: Plan; readonly directory: string } | undefined;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Reads all input of a job to its end and writes the plan into `<jobDirectory>/<plan id>/`; nothing is sent.
 * Refuses with one UserError 'bad-input' that carries the problems of all files; no directory is left then.
 * The caller holds the job's lock; `assertHeld` throws once it has lost it: then nothing is said, and no plan gets its name.
 */
export async function makePlan(
  job: Job,
  deps: PlanDeps,
  options: {
    jobDirectory: string;
    findTaken: FindTaken;
    occurrence: string;
    assertHeld: () => Promise<void>;
    /** By the wall clock: what is to be sent later must be so in time. */
    nowMs: number;
  },
): Promise<PlanOutcome> {
  const { files } = deps;
  const { jobDirectory, occurrence } = options;
  await files.makeDirectory(jobDirectory);
  await removeLeftovers(files, jobDirectory);
  const problems = new ProblemList();
  const selection = await selectInputs(job, deps, { ...options, problems });
  const leftOut = selection.steps.flatMap((step) => step.leftOut);
  try {
    if (selection.steps.every((step) => step.inputs.length === 0)) {
      problems.throwIfAny();
      // Whoever has lost the lock may be looking at the run of another, which is not at its end.
      await options.assertHeld();
      return { made: undefined, leftOut };
    }
    assertTimes(selection, options.nowMs);
    const id = identifyPlan(job, selection, occurrence);
    const directory = join(jobDirectory, id);
    const scratch = join(jobDirectory, `.${id}-${deps.processId}.part`);
    await files.remove(scratch);
    await files.makeDirectory(scratch);
    try {
      const plan = await writePlan({ job, id, occurrence, selection }, { deps, problems, scratch, directory });
      await options.assertHeld();
      await replaceDraft(files, scratch, directory);
      return { made: { plan, directory }, leftOut };
    } finally {
      await files.remove(scratch);
    }
  } finally {
    if (selection.spool !== undefined) await files.remove(selection.spool);
  }
}

/** Before any row is read. */
function assertTimes({ steps }: Selection, nowMs: number): void {
  const faults = listTimeFaults(
    steps.filter(({ inputs }) => inputs.length > 0),
    nowMs,
  );
  const [first] = faults;
  if (first === undefined) return;
  throw new UserError('bad-job', `Cannot plan the job: ${first.where}: ${first.message}`, {
    hint: 'Change it in the job file; nothing was sent.',
    problems: faults,
  });
}

/** What a planner that died left behind; the job's lock is held, so nobody is writing there. */
export async function removeLeftovers(files: Files, jobDirectory: string): Promise<void> {
  for (const name of await files.list(jobDirectory)) {
    if (name.startsWith('.') && name.endsWith('.part')) await files.remove(join(jobDirectory, name));
  }
}

async function writePlan(
  { job, id, occurrence, selection }: { job: Job; id: string; occurrence: string; selection: Selection },
  context: { deps: PlanDeps; problems: ProblemList; scratch: string; directory: string },
): Promise<Plan> {
  const { deps, problems, scratch } = context;
  const jobDirectory = dirname(context.directory);
  const fed = { files: deps.files, jobDirectory, plan: { id, occurrence, job } };
  const steps: PlannedStep[] = [];
  for (const step of selection.steps) {
    const planned = await planStep(step, { planId: id, directory: scratch, deps, problems, fed });
    steps.push(moveSpool(planned, selection.spool, join(context.directory, 'stdin')));
  }
  problems.throwIfAny();
  if (selection.spool !== undefined) await deps.files.rename(selection.spool, join(scratch, 'stdin'));
  const plan: Plan = { format: PLAN_FORMAT, id, occurrence, job, steps };
  await writePlace(deps.files, scratch, jobDirectory);
  await deps.files.writeWhole(join(scratch, PLAN_FILE), encodePlan(plan));
  await deps.files.syncDirectory(scratch);
  return plan;
}

/** Standard input is kept in the run directory, where the next look at the input finds it. */
function moveSpool(step: PlannedStep, spool: string | undefined, path: string): PlannedStep {
  const inputs = step.inputs.map((input) => (input.path === spool ? { ...input, path } : input));
  return { ...step, inputs };
}
