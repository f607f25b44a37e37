import { dirname, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { planIdInstead } from '../kinds/ids.js';
import type { Files } from '../storage/files.js';
import { writePlace } from './format/place.js';
import { encodePlan, PLAN_FILE, PLAN_FORMAT, type Plan, type PlannedStep } from './format/plan-file.js';
import type { RunDirectories } from './format/run-directories.js';
import { assertFitsSheets } from './guards.js';
import { assertInputCame } from './inputs/assert-input-came.js';
import { type FindTaken, identifyPlan, type LeftOut, type Selection, selectInputs } from './inputs/select-inputs.js';
import type { PlanDeps } from './plan-deps.js';
import { planStep } from './plan-step.js';
import { loadPrices } from './prices/load-prices.js';
import { ProblemList } from './problems.js';
import type { RowOwners } from './reimport/reimported-rows.js';
import { keepDraft, replaceDraft } from './replace-draft.js';
import { listTimeFaults } from './time-faults.js';

export interface PlanOutcome {
  /** Undefined when there is nothing new. */
  readonly made: { readonly plan: Plan; readonly directory: string } | undefined;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Reads all input of a job to its end and writes the plan into the directory of its id; nothing is sent. Refuses
 * with one UserError 'bad-input' that carries the problems of all files; no directory is left then. The caller holds
 * the job's lock; `assertHeld` throws once it is lost: then nothing is reported, and no plan gets its name.
 */
export async function makePlan(
  job: Job,
  deps: PlanDeps,
  options: {
    directories: RunDirectories;
    findTaken: FindTaken;
    ownersFor: (plan: { id: string }) => RowOwners;
    occurrence: string;
    /** Absent: none is. */
    isAbandoned?: (id: string) => boolean;
    assertHeld: () => Promise<void>;
    /** By the wall clock: scheduled times must still lie ahead. */
    nowMs: number;
    /** The same command has just finished a run: what a step requires may have come with it. */
    isResumed?: boolean;
  },
): Promise<PlanOutcome> {
  const { files } = deps;
  const { jobDirectory } = options.directories;
  await files.makeDirectory(jobDirectory);
  await removeLeftovers(files, jobDirectory);
  const problems = new ProblemList();
  const selection = await selectInputs(job, deps, { ...options, jobDirectory, problems });
  try {
    return await planSelection(job, selection, { deps, options, problems });
  } finally {
    if (selection.spool !== undefined) await files.remove(selection.spool);
  }
}

/**
 * Only after a file was read to its end is it known whether its rows were taken in another encoding: then planning
 * restarts without it.
 */
async function planSelection(
  job: Job,
  selection: Selection,
  context: { deps: PlanDeps; options: Parameters<typeof makePlan>[2]; problems: ProblemList },
): Promise<PlanOutcome> {
  const { deps, options, problems } = context;
  const { files } = deps;
  const { directories, occurrence } = options;
  const { jobDirectory } = directories;
  const leftOut = selection.steps.flatMap((step) => step.leftOut);
  if (problems.isEmpty) await assertInputCame(files, selection.steps, options);
  if (selection.steps.every((step) => step.inputs.length === 0)) {
    problems.throwIfAny();
    // A process that has lost the lock may be reading the unfinished run of its successor.
    await options.assertHeld();
    return { made: undefined, leftOut };
  }
  assertTimes(job, selection, options.nowMs);
  const id = planIdInstead(identifyPlan(job, selection, occurrence), options.isAbandoned ?? (() => false));
  const directory = directories.place(id, options.nowMs);
  const scratch = join(jobDirectory, `.${id}-${deps.processId}.part`);
  await files.remove(scratch);
  await files.makeDirectory(scratch);
  try {
    const owners = options.ownersFor({ id });
    const planned = await planSteps(
      { job, id, selection },
      {
        deps,
        problems,
        scratch,
        directory,
        owners,
        occurrence,
        nowMs: options.nowMs,
      },
    );
    assertFitsSheets(job, planned.steps);
    const repeats = listRepeats(planned.steps, options.findTaken);
    if (repeats.length > 0) return await planSelection(job, omitRepeats(selection, repeats), context);
    const plan = await writePlan({ job, id, occurrence, selection, ...planned }, { deps, scratch, directory });
    await options.assertHeld();
    await replaceDraft(files, scratch, directory);
    return { made: { plan, directory }, leftOut };
  } finally {
    await files.remove(scratch);
  }
}

/** Before any row is read. */
function assertTimes(job: Job, { steps }: Selection, nowMs: number): void {
  const faults = listTimeFaults(
    job,
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

/** Leftovers of a planner that died; the job's lock is held, so no other process writes there. */
export async function removeLeftovers(files: Files, jobDirectory: string): Promise<void> {
  for (const name of await files.list(jobDirectory)) {
    if (name.startsWith('.') && name.endsWith('.part')) await files.remove(join(jobDirectory, name));
  }
}

async function planSteps(
  { job, id, selection }: { job: Job; id: string; selection: Selection },
  context: {
    deps: PlanDeps;
    problems: ProblemList;
    scratch: string;
    directory: string;
    owners: RowOwners;
    occurrence: string;
    nowMs: number;
  },
): Promise<Pick<Plan, 'steps' | 'prices'>> {
  const { deps, problems, scratch, owners } = context;
  const prices = await loadPrices(job, { deps, problems });
  const people = await deps.openPeople?.({ job, occurrence: context.occurrence }, dirname(context.directory));
  const steps: PlannedStep[] = [];
  for (const step of selection.steps) {
    const planned = await planStep(step, {
      planId: id,
      directory: scratch,
      deps,
      problems,
      owners,
      prices,
      had: people?.(),
      refusesOptOuts: true,
      nowMs: context.nowMs,
      notAfter: job.notAfter,
    });
    steps.push(moveSpool(planned, selection.spool, join(context.directory, 'stdin')));
  }
  problems.throwIfAny();
  return { steps, ...(prices === undefined ? {} : { prices: prices.planned }) };
}

async function writePlan(
  { selection, ...made }: { selection: Selection } & Omit<Plan, 'format' | 'plannedBy'>,
  { deps, scratch, directory }: { deps: PlanDeps; scratch: string; directory: string },
): Promise<Plan> {
  if (selection.spool !== undefined) await deps.files.rename(selection.spool, join(scratch, 'stdin'));
  const plan = await keepDraft(deps.files, directory, { format: PLAN_FORMAT, ...made, plannedBy: deps.plannedBy });
  await writePlace(deps.files, scratch, dirname(directory));
  await deps.files.writeWhole(join(scratch, PLAN_FILE), encodePlan(plan));
  await deps.files.syncDirectory(scratch);
  return plan;
}

interface Repeat extends LeftOut {
  readonly step: number;
  readonly index: number;
}

/** Files whose rows a run has taken, or an earlier file of the step has. */
function listRepeats(steps: readonly PlannedStep[], findTaken: FindTaken): Repeat[] {
  return steps.flatMap(({ number, kind, inputs }) => {
    const seen = new Map<string, string>();
    return inputs.flatMap(({ file, rows, rowsSha256 }, index): Repeat[] => {
      if (rowsSha256 === undefined || rows === 0) return [];
      const [run, twin] = [findTaken(kind, rowsSha256), seen.get(rowsSha256)];
      if (twin === undefined) seen.set(rowsSha256, file);
      const about = { step: number, index, file };
      if (run !== undefined)
        return [{ ...about, run, reason: `was already sent by run ${run}, in another encoding or format` }];
      return twin === undefined
        ? []
        : [{ ...about, reason: `has the same rows as ${twin}, in another encoding or format` }];
    });
  });
}

function omitRepeats(selection: Selection, repeats: readonly Repeat[]): Selection {
  const steps = selection.steps.map((step) => {
    const own = repeats.filter((repeat) => repeat.step === step.number);
    const inputs = step.inputs.filter((_, index) => !own.some((repeat) => repeat.index === index));
    return {
      ...step,
      inputs,
      leftOut: [...step.leftOut, ...own.map(({ file, reason, run }) => ({ file, reason, run }))],
    };
  });
  return { ...selection, steps };
}

/** Standard input is kept in the run directory, so that it can be read again. */
function moveSpool(step: PlannedStep, spool: string | undefined, path: string): PlannedStep {
  const move = <Read extends { readonly path: string }>(read: Read) => (read.path === spool ? { ...read, path } : read);
  return { ...step, inputs: step.inputs.map(move), suppression: step.suppression.map(move) };
}
