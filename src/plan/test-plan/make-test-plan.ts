import { countOf } from '../../domain/count-of.js';
import { UserError } from '../../domain/errors.js';
import { isRowStep, type Job, type SmsStep } from '../../job/job.js';
import { planIdOf } from '../../kinds/ids.js';
import { maskNumber } from '../../normalize/mask.js';
import { accountOf } from '../format/account-of.js';
import type { TestOf } from '../format/plan-file.js';
import type { PlannedRowLine } from '../format/planned-rows.js';
import { makeRetryPlan, type RowsSource, type SourceStep } from '../make-retry-plan.js';
import type { PlanDeps } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import { listCurrentSuppression } from '../suppress/current-lists.js';
import { loadSuppression } from '../suppress/suppression.js';
import type { MadePlan, PlanPlace } from '../write-new-plan.js';

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

interface TestedStep {
  readonly inputs: readonly { readonly file: string; readonly columns: readonly string[] }[];
  /** By their files. */
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
 * plan names its rows, and takes neither them nor their files.
 */
export function makeTestPlan(
  { job, testOf, steps, numbers }: TestSource,
  id: string,
  about: { deps: PlanDeps; place: PlanPlace },
): Promise<MadePlan> {
  const source: RowsSource<TestedStep & SourceStep> = {
    steps: steps.map((step, at) => ({ ...step, number: at + 1 })),
    rowsOf: async function* ({ messages }) {
      for (const { row } of messages) for (const _ of numbers) yield row;
    },
    replay: ({ messages }, { openBody, closeBody }) => {
      const sharedText = JSON.parse(`${openBody(1)}${closeBody}`).template.text;
      let ordinal = -1;
      return (_, { fragment, facts }) => {
        ordinal += 1;
        const { e164, country } = numbers[ordinal % numbers.length] as OwnNumber;
        const { row, text } = messages[Math.floor(ordinal / numbers.length)] as TestedStep['messages'][number];
        const [, segments, ...others] = row.facts;
        const own = { destination: e164, text: text === sharedText ? undefined : text };
        fragment.append(JSON.stringify(own).slice(0, -1));
        facts.append(JSON.stringify([e164, `${segments}`, ...others]).slice(1, -1));
        return { number: Number(e164.slice(1)), country, segments: Number(segments) };
      };
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
    const lists = await listCurrentSuppression(step, job.directory, { deps, problems });
    const list = await loadSuppression(lists, step.input, { deps, problems });
    for (const { e164 } of numbers) if (list.find(Number(e164)) !== undefined) suppressed.add(e164);
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
