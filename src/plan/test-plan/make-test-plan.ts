import { countOf } from '../../domain/count-of.js';
import { UserError } from '../../domain/errors.js';
import { DESTINATION_COLUMN } from '../../domain/output-columns.js';
import { isRowStep, type Job, type SmsStep } from '../../job/job.js';
import { planIdOf } from '../../kinds/ids.js';
import { maskNumber } from '../../normalize/mask.js';
import type { TestOf } from '../format/plan-file.js';
import type { RowLine } from '../format/row-line.js';
import { accountOf } from '../format/run-record.js';
import type { MadePlan, PlanPlace } from '../make-plan.js';
import { makeRetryPlan, type RowsSource } from '../make-retry-plan.js';
import type { PlanDeps } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import { digestSuppression } from '../suppress/list-suppression.js';
import { loadSuppression } from '../suppress/suppression.js';

const TEST_ID_FORMAT = 1;

/** Messages as they are planned, for own numbers instead of their recipients'. */
export interface TestSource {
  /** The job as `jobOfTest` gives it. */
  readonly job: Job;
  readonly testOf: TestOf;
  /** One for each step of the job. */
  readonly steps: readonly TestedStep[];
  /** E.164. */
  readonly numbers: readonly string[];
}

interface TestedStep {
  readonly inputs: readonly { readonly file: string; readonly columns: readonly string[] }[];
  /** The rows, in the order of their files. */
  readonly rows: readonly RowLine[];
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
