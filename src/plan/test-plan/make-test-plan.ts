import { join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Job, SmsStep } from '../../job/job.js';
import { planIdOf } from '../../kinds/ids.js';
import { kindOf } from '../../kinds/kinds.js';
import { joinColumns } from '../columns/join-columns.js';
import { accountOf } from '../format/account-of.js';
import { writePlace } from '../format/place.js';
import { encodePlan, PLAN_FILE, PLAN_FORMAT, type Plan, type PlannedStep, type TestOf } from '../format/plan-file.js';
import type { PlannedRowLine } from '../format/planned-rows.js';
import type { RunDirectories } from '../format/run-directories.js';
import { StepWriter } from '../format/step-writer.js';
import { checkGuards } from '../guards.js';
import { removeLeftovers } from '../make-plan.js';
import type { PlanDeps } from '../plan-deps.js';
import { type LoadedPrices, loadPrices } from '../prices/load-prices.js';
import { createCostTally } from '../prices/missing-prices.js';
import { ProblemList } from '../problems.js';
import { replaceDraft } from '../replace-draft.js';
import { listTimeFaults } from '../time-faults.js';

const TEST_ID_FORMAT = 1;

/** Messages as they are planned, for own numbers instead of their recipients'. */
export interface TestSource {
  /** As `jobOfTest` gives it. */
  readonly job: Job;
  readonly testOf: TestOf;
  /** One for each step of the job. */
  readonly steps: readonly TestedStep[];
  readonly numbers: readonly OwnNumber[];
}

export interface OwnNumber {
  readonly e164: string;
  /** ISO alpha-2. */
  readonly country: string;
}

export interface TestedStep {
  readonly inputs: readonly { readonly file: string; readonly columns: readonly string[] }[];
  readonly messages: readonly { readonly row: PlannedRowLine; readonly text: string }[];
}

/** What a test runs as: the tested steps alone, at once. The account, its limits and the guards stay. */
export function jobOfTest(job: Job, steps: readonly SmsStep[]): Job {
  const guards = { ...job.guards, requireTest: false, requireApproval: undefined };
  const atOnce = steps.map((step) => ({
    ...step,
    window: undefined,
    ramp: undefined,
    template: { ...step.template, scheduled: undefined },
  }));
  return { ...job, steps: atOnce, guards, notBefore: undefined, notAfter: undefined };
}

/** The id of a test that is sent for the n-th time: the same messages to the same numbers can be tested again. */
export function nameTest({ job, testOf, steps, numbers }: TestSource, nth: number): string {
  const templates = job.steps.map((step) => ('template' in step ? step.template : undefined));
  const messages = steps.map((step) =>
    step.messages.map(({ row: { file, line, row }, text }) => [step.inputs[file]?.file, line, row, text]),
  );
  const content = { account: accountOf(job.service, 'sms'), name: job.name, testOf, templates, messages };
  const to = numbers.map(({ e164 }) => e164);
  return planIdOf(JSON.stringify({ test: TEST_ID_FORMAT, ...content, to, nth }));
}

/**
 * Writes a plan of a test into the directory of its id: each message to each number, with ids of its own; nothing is sent. The
 * plan names its rows, and takes neither them nor their files. The caller holds the job's lock.
 */
export async function makeTestPlan(
  source: TestSource,
  deps: PlanDeps,
  options: { id: string; directories: RunDirectories; assertHeld: () => Promise<void>; nowMs: number },
): Promise<{ plan: Plan; directory: string }> {
  const { files, plannedBy } = deps;
  const { id, directories } = options;
  const { jobDirectory } = directories;
  const { job, testOf } = source;
  assertTimes(job, options.nowMs);
  await removeLeftovers(files, jobDirectory);
  const directory = directories.place(id, options.nowMs);
  const scratch = join(jobDirectory, `.${id}-${deps.processId}.part`);
  await files.makeDirectory(scratch);
  try {
    const problems = new ProblemList('send a test');
    const prices = await loadPrices(job, { deps, problems });
    problems.throwIfAny();
    const steps: PlannedStep[] = [];
    for (const [at, step] of job.steps.entries()) {
      const tested = source.steps[at];
      if (step.kind !== 'sms' || tested === undefined) continue;
      steps.push(await planTest(step, tested, { number: at + 1, source, deps, id, scratch, prices }));
    }
    const priced = prices === undefined ? {} : { prices: prices.planned };
    const plan: Plan = { format: PLAN_FORMAT, id, occurrence: '', job, steps, testOf, ...priced, plannedBy };
    checkGuards(plan, job.guards);
    await writePlace(files, scratch, jobDirectory);
    await files.writeWhole(join(scratch, PLAN_FILE), encodePlan(plan));
    await files.syncDirectory(scratch);
    await options.assertHeld();
    await replaceDraft(files, scratch, directory);
    return { plan, directory };
  } finally {
    await files.remove(scratch);
  }
}

/** `scheduled` is dropped; a message that has expired would reach nobody. */
function assertTimes(job: Job, nowMs: number): void {
  const steps = job.steps.map((step, at) => ({ number: at + 1, step }));
  const problems = listTimeFaults(job, steps, nowMs);
  const [first] = problems;
  if (first === undefined) return;
  throw new UserError('bad-job', `Cannot send a test: ${first.message}`, {
    hint: 'Change it in the job file; nothing was sent.',
    problems,
  });
}

async function planTest(
  step: SmsStep,
  { inputs, messages }: TestedStep,
  context: {
    number: number;
    source: TestSource;
    deps: PlanDeps;
    id: string;
    scratch: string;
    prices: LoadedPrices | undefined;
  },
): Promise<PlannedStep> {
  const { number, source, deps, id, scratch, prices } = context;
  const { findColumn } = deps.reader;
  const { kind, limits } = step;
  const planner = kindOf(step).createPlanner(step, {
    planId: id,
    step: number,
    findColumn,
    findSuppressed: () => undefined,
    describeRow: String,
  });
  const sharedText = JSON.parse(`${planner.openBody(1)}${planner.closeBody}`).template.text;
  const costs = prices && createCostTally(step, prices.list);
  const writer = await StepWriter.create(deps.files, scratch, { number, kind, planner, limits });
  const countries: Record<string, number> = {};
  for (const { e164, country } of source.numbers) {
    countries[country] = (countries[country] ?? 0) + messages.length;
    for (const { row, text } of messages) {
      const [, segments, ...facts] = row.facts;
      const fragment = JSON.stringify({
        destination: e164,
        text: text === sharedText ? undefined : text,
      }).slice(0, -1);
      const parts = Number(segments);
      const digits = Number(e164.slice(1));
      const costGroup = costs?.add({ country, number: digits, parts, extraParts: 0, characters: undefined });
      writer.addPlanned(
        { file: row.file, line: row.line, row: row.row, costGroup },
        { fragment, facts: [e164, `${parts}`, ...facts], messages: 1, segments: parts },
        JSON.stringify(row.cells),
      );
    }
  }
  await writer.finish().catch(async (error: unknown) => {
    await writer.discard();
    throw error;
  });
  const { planned, requests, segments, seconds, files } = writer;
  const { columns, maps } = joinColumns(
    inputs.map((input) => input.columns),
    findColumn,
  );
  return {
    number,
    kind,
    inputs: inputs.map((input, at) => ({ ...NOT_TAKEN, ...input, columnMap: maps[at] ?? [] })),
    columns,
    suppression: [],
    counts: { read: planned, planned, rejected: 0, skipped: 0, requests, messages: writer.messages, segments },
    rejections: {},
    skips: {},
    countries,
    ucs2: {},
    examples: messages
      .slice(0, 1)
      .flatMap(({ text }) => source.numbers.slice(0, 1).map(({ e164 }) => ({ to: e164, text }))),
    estimateSeconds: Math.ceil(seconds),
    files,
    ...(costs === undefined ? {} : { cost: costs.figures() }),
  };
}

/** Of a file that a test names as the place of its rows: it is neither read nor taken. */
const NOT_TAKEN = { path: '', sha256: '', contentSha256: '', bytes: 0, rows: 0, notices: [] } as const;
