import { dirname } from 'node:path';
import type { Context } from '../command/context.js';
import { describeRunEnd } from '../command/failure.js';
import { createPlanDeps } from '../command/plan-input.js';
import { type SendingJob, withSending } from '../command/send-job.js';
import { endSoon } from '../command/signals.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { countOf } from '../domain/count-of.js';
import { quoteWord, UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { MAX_TEST_NUMBERS } from '../job/schema/written-job.js';
import { splitNumbers } from '../normalize/number/number.js';
import { digestPlanOf, type PlanAt } from '../plan/format/plan-file.js';
import {
  assertNotSuppressed,
  jobOfTest,
  makeTestPlan,
  nameTest,
  type TestSource,
} from '../plan/retry-and-test-plans.js';
import type { ChosenRows } from '../preview/choose-rows.js';
import type { PreviewedStep } from '../preview/previewed-plan.js';
import { readHistory } from '../registry/read-runs.js';
import { explainEnd, formatSummary, listFigures } from '../texts/summary-text.js';
import { readNextOfPlan } from './job-result.js';
import { openShown, readNumber, readShownRows, type Shown } from './preview.js';
import { adopt, argument, defineVerb, json, rowChoice, texts, whole } from './verb.js';

/**
 * `volley test JOB|RUN`: sends real messages to own numbers, as a run of its own; nothing of the job is taken by it. A test that was
 * cut short is resumed by the same command.
 */
export const test = defineVerb({
  args: { job: argument('A job file; or a run directory, as plan and run print it') },
  flags: {
    to: texts(
      'Your numbers: separated by commas or semicolons, or the flag once for each, 20 at most (default: testNumbers of the job)',
    ),
    ...rowChoice,
    count: { ...whole('How many rows of each step, 20 at most', 1, 20), default: 1 },
    adopt,
    json,
  },
  examples: [['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --to +6591234567 --longest', '']],
  run: async ({ job: of, to, count, ...choice }, context) => {
    const { env, screen } = context;
    const tested = await openShown(of, context);
    const { job, run } = tested;
    if (run?.plan.testOf !== undefined) {
      throw new UserError(
        'bad-plan',
        `Cannot test ${run.directory}: it is a test itself, expected a run or a job file`,
        { hint: `To resume it: \`volley apply ${quoteWord(run.directory)}\`` },
      );
    }
    const directory = run === undefined ? jobDirectoryOf(job) : dirname(run.directory);
    context.name({ job: job.name, ...(run === undefined ? {} : { testOf: run.plan.id }) });
    const numbers = readNumbers(to, job);
    const chosen = { choice, count, only: 'sms' };
    const smsSteps = job.steps.filter((step) => step.kind === 'sms');
    if (smsSteps.length === 0) {
      throw new UserError('bad-job', 'Cannot send a test: the job has no step of kind sms, expected one', {
        hint: 'Other steps have no test; volley preview shows what they would send.',
      });
    }
    const place = { directory, waits: false };
    const summary = await withSending(context, jobOfTest(job, smsSteps), place, async (sending) => {
      const planned = await endSoon(context, 'plan the test', () =>
        planTest({ ...tested, numbers, chosen }, sending, context),
      );
      return sending.send(planned.directory, planned.plan, planned.plan.job);
    });
    context.name(listFigures(summary));
    const text = formatSummary(summary, {
      isSandbox: job.service.sandbox,
      nowMs: env.clock.now(),
      job: run === undefined ? of : undefined,
      planned: run && (await readNextOfPlan(context, run)),
      screen,
    });
    return { json: describeRunEnd(summary), text, exitCode: summary.exitCode, reason: explainEnd(summary) };
  },
});

function readNumbers(to: readonly string[] | undefined, job: Job): string[] {
  const written = to?.flatMap(splitNumbers) ?? job.testNumbers ?? [];
  const numbers = new Set(written.map((each) => readNumber(each, job).e164));
  if (numbers.size === 0) {
    throw refuse('no number is given, expected --to NUMBER, or testNumbers in the job file');
  }
  if (numbers.size > MAX_TEST_NUMBERS) {
    throw refuse(`${countOf(numbers.size, 'number')} are given, expected at most ${MAX_TEST_NUMBERS}`);
  }
  return [...numbers];
}

/** The test that was cut short, if there is one with the same messages for the same numbers; else a new one. */
async function planTest(
  { job, run, numbers, chosen }: Shown & { readonly numbers: readonly string[]; readonly chosen: ChosenRows },
  { directory: jobDirectory, registry, lock }: SendingJob,
  context: Context,
): Promise<PlanAt> {
  const { env, log } = context;
  const { files, clock } = env;
  const deps = await createPlanDeps(context);
  await assertNotSuppressed({ job, numbers }, deps);
  if (run !== undefined) await registry.assertOwn(run.plan.id);
  const steps = await readShownRows({ job, run }, chosen, context, 'send a test');
  const planSha256 = run && (await digestPlanOf(files, run.directory));
  const testOf = { plan: run?.plan.id ?? null, planSha256: planSha256 ?? null, numbers: numbers.length };
  const source: TestSource = { testOf, numbers, ...chooseTested(job, steps, chosen) };
  const history = await readHistory(files, jobDirectory, registry.state);
  for (let nth = 1; ; nth += 1) {
    const id = nameTest(source, nth);
    const past = history.find(({ plan }) => plan.id === id);
    const known = registry.find(id);
    if (registry.state.recordOf(id).pruned !== undefined) continue;
    if (known === undefined && (past === undefined || past.state === 'planned')) {
      const { directories } = registry;
      const place = { directories, assertHeld: () => lock.assertHeld(), nowMs: clock.now() };
      return makeTestPlan(source, id, { deps, place });
    }
    if (past === undefined || known?.ended?.state === 'finished') continue;
    log.info(`resuming test ${id}, which had not finished`, { run: id });
    await registry.assertOwn(id);
    return past;
  }
}

function chooseTested(job: Job, steps: readonly PreviewedStep[], { choice }: ChosenRows) {
  const tested = steps.flatMap(({ number, inputs, rows }) => {
    const step = job.steps[number - 1];
    const planned = rows.flatMap(({ row }) => (row.state === 'planned' ? [row] : []));
    return step?.kind === 'sms' && planned.length > 0
      ? [{ step, inputs, rows: planned.toSorted((a, b) => a.file - b.file) }]
      : [];
  });
  const testedSteps = tested.map(({ step }) => step);
  if (tested.length > 0) return { job: jobOfTest(job, testedSteps), steps: tested };
  const [refused] = steps.flatMap(({ rows }) => rows);
  const why =
    refused?.row.state === 'rejected' || refused?.row.state === 'skipped'
      ? `row ${refused.row.row} is ${refused.row.state}`
      : choice.ucs2 === true
        ? 'no message has a character that forces UCS-2'
        : 'no row is chosen';
  const most = Math.max(0, ...steps.map(({ seen }) => seen));
  throw refuse(`${why}, expected one that is sent, of ${countOf(most, 'row')} read`);
}

function refuse(what: string): UserError {
  return new UserError('bad-flag', `Cannot send a test: ${what}`);
}
