import { RowWriter } from '../domain/bytes/row-writer.js';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { DESTINATION_COLUMN } from '../domain/output-columns.js';
import { BLOCK_ROWS, type ReadBlock, type RecordReader } from '../input/record-reader.js';
import { accountOf, isRowStep, type Job, type SmsStep, type Step } from '../job/job.js';
import { planIdOf } from '../kinds/ids.js';
import { maskNumber } from '../normalize/mask.js';
import { removeLeftovers } from '../storage/files.js';
import type { PlannedInput, PlannedStep, TestOf } from './format/plan-file.js';
import type { RowLine } from './format/row-line.js';
import { assertTimes } from './guards.js';
import { type MadePlan, type PlanHead, type PlanPlace, writeNewPlan } from './make-plan.js';
import type { DigestedInput, PlanDeps } from './plan-deps.js';
import { type PlanStepContext, planStep } from './plan-step.js';
import { ProblemList } from './problems.js';
import { digestSuppression } from './suppress/list-suppression.js';
import { loadSuppression } from './suppress/suppression.js';

interface RowsSource {
  readonly steps: readonly SourceStep[];
  /** Reads the rows of a step in the order of its inputs; of a step with stages, in any order. */
  rowsOf(step: SourceStep): AsyncGenerator<RowLine>;
  readonly refuseTwin?: PlanStepContext['refuseTwin'];
}

interface SourceStep extends Pick<PlannedStep, 'number' | 'stages'> {
  readonly inputs: readonly (Pick<PlannedInput, 'file' | 'columns'> & Partial<PlannedInput>)[];
  /** How many rows there are to plan; absent where there are some. */
  readonly counts?: { readonly planned: number };
}

/**
 * Writes a plan of rows of another plan into the directory of its id: cells and places as they stand there, ids of its own; nothing is
 * sent. Suppression lists are read again: recipients who opted out since are skipped. The same rows give the same id, and a plan that
 * was never applied is replaced. The caller must claim the rows before the plan can be sent.
 */
export async function makeRetryPlan(
  source: RowsSource,
  head: PlanHead,
  { deps, place, task, hint }: { deps: PlanDeps; place: PlanPlace; task: string; hint: string },
): Promise<MadePlan> {
  const { job } = head;
  const stepOf = ({ number }: SourceStep): Step[] => job.steps.slice(number - 1, number);
  const timed = source.steps.filter(({ counts }) => counts?.planned !== 0);
  const times = timed.flatMap((planned) => stepOf(planned).map((step) => ({ number: planned.number, step })));
  assertTimes(job, times, { nowMs: place.nowMs, task, hint });
  await removeLeftovers(deps.files, place.directories.jobDirectory, { prefix: '.' });
  const context = { deps, place, problems: new ProblemList(task) };
  const made = await writeNewPlan(head, context, async (begin) => {
    const steps: PlannedStep[] = [];
    for (const planned of source.steps) {
      for (const step of stepOf(planned))
        steps.push(await planRows(step, planned, { source, head, context: begin(step) }));
    }
    return steps;
  });
  return made as MadePlan;
}

async function planRows(
  step: Step,
  planned: SourceStep,
  { source, head, context }: { source: RowsSource; head: PlanHead; context: PlanStepContext },
): Promise<PlannedStep> {
  const { number } = planned;
  const selection = { step, number, listed: [], inputs: [], suppression: [], leftOut: [] };
  if (!isRowStep(step)) return planStep(selection, context);
  const inputs = planned.inputs.map((input): DigestedInput => {
    const { file, path = '', sha256 = '', contentSha256 = '', bytes = 0 } = input;
    return { file: { path, shown: file, format: 'csv' }, sha256, bytes, contentSha256 };
  });
  // A test asks no list here: it goes to own numbers.
  const { testOf, job } = head;
  const suppression =
    testOf === undefined ? await digestSuppression(step, job.directory, { ...context, where: 'suppress' }) : [];
  await using records = closing(openPlannedRecords(planned, () => source.rowsOf(planned)));
  const { refuseTwin } = source;
  const rest = { refuseTwin, readPlanned: records.readInput };
  const made = await planStep({ ...selection, inputs, suppression }, { ...context, ...rest });
  // The digest stays that of all rows of the file, not of those that are planned again.
  const known = made.inputs.map((input, index) => ({ ...input, rowsSha256: planned.inputs[index]?.rowsSha256 }));
  return { ...made, inputs: known };
}

/**
 * Rows of a step of another plan as records of its inputs: cells and places as that plan holds them, since the files
 * may have changed. Read the inputs one after the other, in their order. Where the plan has stages, rows of a file may stand behind those
 * of later ones: then all rows are read for each input.
 */
function openPlannedRecords(planned: SourceStep, open: () => AsyncGenerator<RowLine>) {
  let rows = open();
  /** The first row of a later input, read ahead. */
  let ahead: RowLine | undefined;
  const close = async () => {
    await rows.return(undefined);
  };
  const readNext = async (): Promise<RowLine | undefined> => {
    const known = ahead;
    ahead = undefined;
    if (known !== undefined) return known;
    const { value, done } = await rows.next();
    return done === true ? undefined : value;
  };
  async function* readBlocks(input: number, width: number): AsyncGenerator<ReadBlock> {
    const writer = new RowWriter(width);
    const isOrdered = planned.stages === undefined;
    if (!isOrdered) {
      await close();
      rows = open();
    }
    for (let row = await readNext(); row !== undefined; row = await readNext()) {
      if (row.file !== input && !isOrdered) continue;
      if (row.file !== input) {
        ahead = row;
        break;
      }
      const { cells, line, row: number, from } = row;
      writer.add({ cells, line, row: number, fault: undefined, ownId: from });
      if (writer.count === BLOCK_ROWS) yield { rows: writer.take() };
    }
    if (writer.count > 0) yield { rows: writer.take() };
  }
  const readInput = (index: number): RecordReader => {
    const { columns = [], sha256 = '' } = planned.inputs[index] ?? {};
    const none = { ownColumns: [], notices: [], open: async () => {}, close: async () => {} };
    return { ...none, columns, sha256, blocks: () => readBlocks(index, columns.length) };
  };
  return { readInput, close };
}

const TEST_ID_FORMAT = 1;

/** Messages as they are planned, for own numbers instead of their recipients'. */
export interface TestSource {
  /** The job as `jobOfTest` gives it. */
  readonly job: Job;
  readonly testOf: TestOf;
  /** One for each step of the job, with its rows in the order of their files. */
  readonly steps: readonly {
    readonly inputs: readonly { readonly file: string; readonly columns: readonly string[] }[];
    readonly rows: readonly RowLine[];
  }[];
  /** E.164. */
  readonly numbers: readonly string[];
}

/** What a test runs as: the tested steps alone, at once, for the numbers that stand in a column of their own. The account, its limits and the guards stay. */
export function jobOfTest(job: Job, steps: readonly SmsStep[]): Job {
  const guards = { ...job.guards, requireTest: false, requireApproval: undefined };
  const atOnce = steps.map((step) => ({
    ...step,
    destination: DESTINATION_COLUMN,
    duplicates: 'keep' as const,
    input: { ...step.input, where: undefined, countryColumn: undefined },
    window: undefined,
    ramp: undefined,
    template: { ...step.template, scheduled: undefined },
  }));
  return { ...job, steps: atOnce, guards, notBefore: undefined, notAfter: undefined };
}

/** The id of a test that is sent for the n-th time: the same messages to the same numbers can be tested again. */
export function nameTest({ job, testOf, steps, numbers }: TestSource, nth: number): string {
  const templates = job.steps.map((step) => ('template' in step ? step.template : undefined));
  const rows = steps.map((step) =>
    step.rows.map(({ file, line, row, cells }) => [step.inputs[file]?.file, line, row, cells]),
  );
  const content = { account: accountOf(job.service, 'sms'), name: job.name, testOf, templates, rows };
  return planIdOf(JSON.stringify({ test: TEST_ID_FORMAT, ...content, to: numbers, nth }));
}

/**
 * Writes a plan of a test into the directory of its id: each row to each number, with ids of its own; nothing is sent. The
 * plan names its rows, and takes neither them nor their files.
 */
export function makeTestPlan(
  { job, testOf, steps, numbers }: TestSource,
  id: string,
  about: { deps: PlanDeps; place: PlanPlace },
): Promise<MadePlan> {
  const source: RowsSource = {
    steps: steps.map(({ inputs }, at) => ({
      number: at + 1,
      // In front: a file may have the column already.
      inputs: inputs.map(({ file, columns }) => ({ file, columns: [DESTINATION_COLUMN, ...columns] })),
    })),
    rowsOf: async function* ({ number }) {
      for (const row of steps[number - 1]?.rows ?? [])
        for (const e164 of numbers) yield { ...row, from: undefined, cells: [e164, ...row.cells] };
    },
  };
  const hint = 'Change it in the job file';
  return makeRetryPlan(source, { id, occurrence: '', job, testOf }, { ...about, task: 'send a test', hint });
}

/** Refuses a test to a number that is on a suppression list of the job, as the lists are now. */
export async function assertNotSuppressed(
  { job, numbers }: Pick<TestSource, 'job' | 'numbers'>,
  deps: PlanDeps,
): Promise<void> {
  const problems = new ProblemList('send a test');
  const suppressed = new Set<string>();
  for (const step of job.steps) {
    if (!isRowStep(step) || step.suppress === undefined) continue;
    const lists = await digestSuppression(step, job.directory, { where: 'suppress', deps, problems });
    const list = await loadSuppression(lists, step.input, { deps, problems });
    for (const e164 of numbers) if (list.find(Number(e164)) !== undefined) suppressed.add(e164);
  }
  problems.throwIfAny();
  if (suppressed.size === 0) return;
  const listed = [...suppressed].map(maskNumber).join(', ');
  throw new UserError(
    'bad-input',
    `Cannot send a test: ${countOf(suppressed.size, 'number')} on a suppression list of the job (${listed}), expected numbers that are on no list`,
    { hint: 'Nothing was sent. Send the test to the others.' },
  );
}
