import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { InputFile } from '../input/inputs.js';
import { isRowStep, type Step } from '../job/job.js';
import { dropSample } from '../job/stages.js';
import { planIdInstead, planIdOf } from '../kinds/ids.js';
import { writePlace } from './format/place.js';
import { encodePlan, PLAN_FILE, PLAN_FORMAT, type Plan, type PlannedStep, type RetryOf } from './format/plan-file.js';
import { PlannedRecords } from './format/planned-records.js';
import type { RowLine } from './format/row-line.js';
import type { RunDirectories } from './format/run-directories.js';
import { checkGuards } from './guards.js';
import type { HadLookup } from './had-lookup.js';
import type { DigestedInput } from './inputs/select-inputs.js';
import { removeLeftovers } from './make-plan.js';
import type { PlanDeps } from './plan-deps.js';
import { type PlanStepContext, planStep } from './plan-step.js';
import { type LoadedPrices, loadPrices } from './prices/load-prices.js';
import { ProblemList } from './problems.js';
import { keepDraft, replaceDraft } from './replace-draft.js';
import { listCurrentSuppression } from './suppress/current-lists.js';
import { listTimeFaults } from './time-faults.js';

/** Part of the id, which stays the same for the same rows: not the format of plan.json. */
const RETRY_ID_FORMAT = 3;

export interface RetrySource {
  readonly plan: Plan;
  /** Canonical description of the rows to retry: equal for equal rows. */
  readonly identity: string;
  /** Those rows of a step, in their order. */
  rowsOf(planned: PlannedStep): AsyncGenerator<RowLine>;
  readonly refuseTwin: PlanStepContext['refuseTwin'];
}

/**
 * Writes a plan of rows of another plan into the directory of its id: the same job, the same cells, ids of its
 * own; nothing is sent. Suppression lists are read again: recipients who opted out since are skipped. The same rows
 * give the same id, and a plan that was never applied is replaced. The caller holds the job's lock, and must claim the
 * rows before the plan can be sent.
 */
export async function makeRetryPlan(
  source: RetrySource,
  deps: PlanDeps,
  options: {
    directories: RunDirectories;
    retryOf: RetryOf;
    isAbandoned: (id: string) => boolean;
    assertHeld: () => Promise<void>;
    nowMs: number;
  },
): Promise<{ plan: Plan; directory: string }> {
  const { files } = deps;
  const { directories, retryOf, assertHeld } = options;
  const { jobDirectory } = directories;
  const { occurrence } = source.plan;
  const job = dropSample(source.plan.job);
  assertTimes(source.plan, options.nowMs);
  await removeLeftovers(files, jobDirectory);
  const identity = JSON.stringify({ format: RETRY_ID_FORMAT, run: retryOf.run, rows: source.identity });
  const id = planIdInstead(planIdOf(identity), options.isAbandoned);
  const directory = directories.place(id, options.nowMs);
  const scratch = join(jobDirectory, `.${id}-${deps.processId}.part`);
  await files.remove(scratch);
  await files.makeDirectory(scratch);
  try {
    const problems = new ProblemList('retry the rows');
    const prices = await loadPrices(job, { deps, problems });
    const people = await deps.openPeople?.({ job, occurrence, retryOf }, jobDirectory);
    const steps: PlannedStep[] = [];
    for (const planned of source.plan.steps) {
      const step = job.steps[planned.number - 1];
      if (step !== undefined)
        steps.push(
          await planRows(step, planned, {
            source,
            deps,
            problems,
            id,
            scratch,
            prices,
            had: people?.(),
            nowMs: options.nowMs,
          }),
        );
    }
    problems.throwIfAny();
    const priced = prices === undefined ? {} : { prices: prices.planned };
    const made = { format: PLAN_FORMAT, id, occurrence, job, steps, retryOf, ...priced, plannedBy: deps.plannedBy };
    const plan = await keepDraft(files, directory, made);
    await writePlace(files, scratch, jobDirectory);
    await files.writeWhole(join(scratch, PLAN_FILE), encodePlan(plan));
    await files.syncDirectory(scratch);
    // A plan that a guard refuses gets no name: it would seem to have claimed the rows.
    checkGuards(plan, job.guards);
    await assertHeld();
    await replaceDraft(files, scratch, directory);
    return { plan, directory };
  } finally {
    await files.remove(scratch);
  }
}

/** Rows whose scheduled time has passed need a job with a new time. */
function assertTimes({ id, job, steps }: Plan, nowMs: number): void {
  const faults = listTimeFaults(
    job,
    steps.flatMap(({ number, counts }) => {
      const step = job.steps[number - 1];
      return step === undefined || counts.planned === 0 ? [] : [{ number, step }];
    }),
    nowMs,
  );
  const [first] = faults;
  if (first === undefined) return;
  throw new UserError('bad-job', `Cannot retry rows of run ${id}: ${first.where}: ${first.message}`, {
    hint: 'Change it in the job file, and name that with --job. Nothing was sent.',
    problems: faults,
  });
}

async function planRows(
  step: Step,
  planned: PlannedStep,
  context: {
    source: RetrySource;
    deps: PlanDeps;
    problems: ProblemList;
    id: string;
    scratch: string;
    prices: LoadedPrices | undefined;
    had: HadLookup | undefined;
    nowMs: number;
  },
): Promise<PlannedStep> {
  const { source, deps, problems, id, scratch, prices, had, nowMs } = context;
  const { number } = planned;
  const about = {
    planId: id,
    directory: scratch,
    problems,
    prices,
    had,
    nowMs,
    notAfter: source.plan.job.notAfter,
    refuseTwin: source.refuseTwin,
  };
  if (!isRowStep(step))
    return planStep({ step, number, listed: [], inputs: [], suppression: [], leftOut: [] }, { ...about, deps });
  const inputs = planned.inputs.map(({ file, path, sha256, contentSha256, bytes }): DigestedInput => {
    return { file: { path, shown: file, format: 'csv' }, sha256, bytes, contentSha256 };
  });
  const places = new Map<InputFile, number>(inputs.map(({ file }, index) => [file, index]));
  const directory = source.plan.job.directory;
  const suppression = await listCurrentSuppression(step, directory, context);
  const selection = { step, number, listed: [], inputs, suppression, leftOut: [] };
  const records = new PlannedRecords(planned, () => source.rowsOf(planned));
  const reader: PlanDeps['reader'] = {
    ...deps.reader,
    readRecords: (file, input) => {
      const index = places.get(file);
      return index === undefined ? deps.reader.readRecords(file, input) : records.readInput(index);
    },
  };
  try {
    return await planStep(selection, { ...about, deps: { ...deps, reader } });
  } finally {
    await records.close();
  }
}
