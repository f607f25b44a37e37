import type { Context } from '../command/context.js';
import { createPlanDeps } from '../command/plan-input.js';
import { findRunPath, openRunDirectory } from '../command/run-directory.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { placeProblems } from '../job/explain/place-problems.js';
import { fixDates } from '../job/fix-dates.js';
import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import type { ChosenRows } from '../preview/choose-rows.js';
import { previewJob } from '../preview/plan-in-memory.js';
import { type PreviewedStep, previewRun } from '../preview/read-run.js';
import { readChoice, readCount, readNumberFlag } from '../preview/row-choice.js';
import { EXIT } from '../report/exit-code.js';
import { type DescribedRow, describeRow, formatRow } from '../texts/preview-text.js';
import { defineVerb, json, textArgument, textOption } from './verb.js';

const COUNT = { default: 5, most: 1000 };

/** `volley preview JOB|RUN`: messages as people get them, with the rows behind them. Writes nothing and sends nothing. */
export const preview = defineVerb({
  args: { job: textArgument('A job file; or a run directory, as plan and run print it') },
  flags: {
    row: textOption('Only the row with this number in its file, without the header; also if it is not sent'),
    to: textOption('Only the message to this number, or why it gets none'),
    longest: { describe: 'The messages with the most SMS parts', type: 'boolean' },
    ucs2: { describe: 'Messages with a character that forces UCS-2', type: 'boolean' },
    random: textOption('Rows drawn at random by this word; the same word draws the same rows'),
    count: textOption(`How many rows of each step (default: ${COUNT.default})`),
    'show-numbers': { describe: 'Show whole numbers; by default they are masked', type: 'boolean' },
    json,
  },
  examples: [['jobs/spring-sale.yaml --ucs2', 'which texts cost more, and why']],
  isLook: true,
  run: async (flags, context) => {
    const { job, steps } = await readRows(flags.job, context, (job) => {
      const to = flags.to === undefined ? undefined : readNumberFlag(flags.to, job, refuse).e164;
      return { choice: readChoice({ ...flags, to }, refuse), count: readCount(flags, COUNT, refuse) };
    });
    const showNumbers = flags.showNumbers === true;
    const rows = steps.flatMap((step) => describeStep(step, job, showNumbers));
    // Who asks for a row or a number that is not there has mistyped it.
    if (rows.length === 0 && flags.row !== undefined) {
      const most = Math.max(0, ...steps.map(({ seen }) => seen));
      throw refuse(`--row is ${flags.row}, expected the number of a row, from 1 to ${most}`);
    }
    if (rows.length === 0 && flags.to !== undefined)
      throw refuse('--to names a number that no row has, expected one of them');
    const text = rows.map((row) => formatRow(row, context.screen)).join('\n');
    return {
      json: { job: job.name, state: 'previewed', rows },
      text: text === '' ? 'There is nothing to send.\n' : text,
      exitCode: EXIT.ok,
      reason: countOf(rows.length, 'row'),
    };
  },
});

/** Of a run as it was planned, of a job as it would be now. */
async function readRows(
  written: string,
  context: Context,
  choose: (job: Job) => ChosenRows,
): Promise<{ job: Job; steps: readonly PreviewedStep[] }> {
  const { files, clock } = context.env;
  const found = await files.stat(await findRunPath(written, files));
  if (found?.isDirectory === true) {
    const { directory, plan } = await openRunDirectory(written, files);
    return { job: plan.job, steps: await previewRun(files, { directory, plan }, choose(plan.job)) };
  }
  const job = fixDates(await loadJob(written), clock.now());
  const deps = await createPlanDeps(context);
  return { job, steps: await placeProblems({ file: written, files }, () => previewJob(job, deps, choose(job))) };
}

function describeStep({ number, inputs, rows }: PreviewedStep, job: Job, showNumbers: boolean): DescribedRow[] {
  const step = job.steps[number - 1];
  if (step === undefined) return [];
  const currency = job.prices?.currency;
  return rows.map((each) => describeRow(each, { number, step, input: inputs[each.row.file], currency, showNumbers }));
}

function refuse(what: string): UserError {
  return new UserError('bad-flag', `Cannot preview: ${what}`);
}
