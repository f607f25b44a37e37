import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import type { InputFile } from '../input/inputs.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { planIdInstead } from '../kinds/ids.js';
import type { Files } from '../storage/files.js';
import { removeLeftovers } from '../storage/files.js';
import { encodePlan, PLAN_FILE, PLAN_FORMAT, type Plan, type PlannedStep } from './format/plan-file.js';
import { keepDraft, type RunDirectories, replaceDraft } from './format/run-directories.js';
import { writeRunFile } from './format/run-record.js';
import { assertFitsSheets, assertTimes, checkGuards } from './guards.js';
import { loadPrices } from './load-prices.js';
import type { PlanDeps } from './plan-deps.js';
import { type PlanStepContext, planStep } from './plan-step.js';
import { ProblemList } from './problems.js';
import type { RowOwners } from './reimport/reimported-rows.js';
import {
  type FindTaken,
  identifyPlan,
  type LeftOut,
  type Selection,
  type StepSelection,
  selectInputs,
} from './select-inputs.js';

interface PlanOptions extends PlanPlace {
  readonly findTaken: FindTaken;
  /** Says of a file that was taken what of it is not sent. */
  readonly noteRest?: (leftOut: LeftOut, step: number) => Promise<LeftOut>;
  readonly ownersFor: (plan: { id: string }) => RowOwners;
  readonly occurrence: string;
  /** Whether a plan was let go; absent: none was. */
  readonly isAbandoned?: (id: string) => boolean;
  /** Runs of this night that have just ended: what a step requires may have come with them. */
  readonly cameWith?: readonly string[];
}

export interface PlanOutcome {
  /** The plan; undefined when there is nothing new. */
  readonly made: MadePlan | undefined;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Reads all input of a job to its end and writes the plan into the directory of its id; nothing is sent. Refuses
 * with one UserError 'bad-input' that carries the problems of all files; no directory is left then.
 */
export async function makePlan(job: Job, deps: PlanDeps, options: PlanOptions): Promise<PlanOutcome> {
  const { files } = deps;
  const { jobDirectory } = options.directories;
  await files.makeDirectory(jobDirectory);
  // The job's lock is held: no other planner is at work.
  await removeLeftovers(files, jobDirectory, { prefix: '.' });
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
  context: { deps: PlanDeps; options: PlanOptions; problems: ProblemList },
): Promise<PlanOutcome> {
  const { deps, options, problems } = context;
  const { files } = deps;
  const { occurrence, noteRest = async (each: LeftOut) => each } = options;
  const { spool } = selection;
  const noted: StepSelection[] = [];
  for (const step of selection.steps) {
    const omitted: LeftOut[] = [];
    for (const each of step.leftOut) omitted.push(await noteRest(each, step.number));
    noted.push({ ...step, leftOut: omitted });
  }
  const leftOut = noted.flatMap((step) => step.leftOut);
  if (problems.isEmpty) await assertInputCame(files, noted, options);
  if (selection.steps.every((step) => step.inputs.length === 0)) {
    problems.throwIfAny();
    // A process that has lost the lock may be reading the unfinished run of its successor.
    await options.assertHeld();
    return { made: undefined, leftOut };
  }
  const fed = selection.steps.filter(({ inputs }) => inputs.length > 0);
  assertTimes(job, fed, { nowMs: options.nowMs, task: 'plan the job', hint: 'Change it in the job file' });
  const id = planIdInstead(identifyPlan(job, selection, occurrence), options.isAbandoned ?? (() => false));
  const owners = options.ownersFor({ id });
  const refuseTwin: RowOwners['refuseTwin'] = (...row) => owners.refuseTwin(...row);
  let repeats: readonly Repeat[] = [];
  const made = await writeNewPlan(
    { id, occurrence, job },
    { deps, problems, place: options },
    async (begin, { scratch, directory }) => {
      const steps: PlannedStep[] = [];
      for (const step of selection.steps) {
        const planned = await planStep(step, { ...begin(step.step), owners, refuseTwin });
        steps.push(moveSpool(planned, spool, join(directory, 'stdin')));
      }
      problems.throwIfAny();
      assertRowsCame(steps, selection.steps, options);
      repeats = listRepeats(steps, options.findTaken);
      if (repeats.length > 0) return undefined;
      if (spool !== undefined) await files.rename(spool, join(scratch, 'stdin'));
      return steps;
    },
  );
  return made === undefined ? planSelection(job, omitRepeats(selection, repeats), context) : { made, leftOut };
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

/** Moves what was read of standard input into the run directory, so that it can be read again. */
function moveSpool(step: PlannedStep, spool: string | undefined, path: string): PlannedStep {
  const move = <Read extends { readonly path: string }>(read: Read) => (read.path === spool ? { ...read, path } : read);
  return { ...step, inputs: step.inputs.map(move), suppression: step.suppression.map(move) };
}

const HOUR_MS = 3_600_000;

/**
 * Refuses where an export did not come: of a step with `input.required` no file is new, or of one with `input.newerThan` the
 * newest file is older, save where a run of `cameWith` took what came.
 */
async function assertInputCame(
  files: Pick<Files, 'stat'>,
  steps: readonly StepSelection[],
  { nowMs, cameWith = [] }: Pick<PlanOptions, 'nowMs' | 'cameWith'>,
): Promise<void> {
  const problems: Problem[] = [];
  for (const selected of steps) {
    const { step, number, inputs, listed, leftOut } = selected;
    if (!isRowStep(step)) continue;
    const { required, newerThan, whenDone } = step.input;
    // What was moved since is not listed.
    const isTaken = whenDone !== undefined || leftOut.some(({ run }) => run !== undefined && cameWith.includes(run));
    if (inputs.length === 0 && cameWith.length > 0 && isTaken) continue;
    const where = `step ${number} (${step.kind})`;
    if (required === true && inputs.length === 0) {
      problems.push({ where, message: `no file is new, expected one (input.required): ${describeOmitted(selected)}` });
    }
    const newest = newerThan === undefined ? undefined : await findNewest(files, listed);
    if (newest === undefined || newerThan === undefined || nowMs - newest.modifiedMs <= newerThan) continue;
    const is = `its newest file, ${newest.shown}, is ${Math.floor((nowMs - newest.modifiedMs) / HOUR_MS)} h old`;
    problems.push({ where, message: `${is}, expected ${newerThan / HOUR_MS} h at most (input.newerThan)` });
  }
  throwMissingInput(problems);
}

/** Refuses a step with `input.required` whose new files have no rows: an export that came out empty. */
function assertRowsCame(
  planned: readonly PlannedStep[],
  selected: readonly StepSelection[],
  { cameWith = [] }: Pick<PlanOptions, 'cameWith'>,
): void {
  const problems = selected.flatMap(({ step, number }, index): Problem[] => {
    const { counts, inputs } = planned[index] ?? {};
    if (!isRowStep(step) || step.input.required !== true || cameWith.length > 0 || counts?.read !== 0) return [];
    const named = inputs?.at(-1)?.file ?? '';
    const message = `no new file has a row, expected one (input.required): ${named} has none`;
    return [{ where: `step ${number} (${step.kind})`, message }];
  });
  throwMissingInput(problems);
}

function throwMissingInput(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new UserError('missing-input', `Cannot plan the job: ${first.where}: ${first.message}`, {
    hint: 'Nothing was sent. Find out why the export did not come, or came empty; the same command plans it once it is there.',
    problems,
  });
}

function describeOmitted({ leftOut }: StepSelection): string {
  const last = leftOut.at(-1);
  if (last === undefined) return 'there is none';
  const others = leftOut.length - 1;
  return `${last.file} ${last.reason}${others === 0 ? '' : `; ${countOf(others, 'other')} as well`}`;
}

async function findNewest(
  files: Pick<Files, 'stat'>,
  listed: readonly InputFile[],
): Promise<{ shown: string; modifiedMs: number } | undefined> {
  const modified = listed.map(async ({ path, shown }) => {
    return { shown, modifiedMs: (await files.stat(path))?.modifiedMs ?? 0 };
  });
  return (await Promise.all(modified)).toSorted((one, other) => other.modifiedMs - one.modifiedMs)[0];
}

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
    begin: (step: Step) => PlanStepContext,
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
    const steps = await planSteps((step) => ({ ...common, had: people?.(step) }), { scratch, directory });
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
