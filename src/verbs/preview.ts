import type { Context } from '../command/context.js';
import { createPlanDeps } from '../command/plan-input.js';
import { findRunPath, openRunDirectory } from '../command/run-directory.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { fixDates } from '../job/planned-job.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { AcceptedNumber } from '../normalize/number/number-library.js';
import type { ChosenRows } from '../preview/choose-rows.js';
import { type PreviewedStep, previewJob, previewRun } from '../preview/previewed-plan.js';
import { describeRows, formatRow } from '../texts/preview-text.js';
import { argument, defineVerb, json, rowChoice, text, whole, yes } from './verb.js';

/** `volley preview JOB|RUN`: messages as people get them, with the rows behind them. Writes nothing and sends nothing. */
export const preview = defineVerb({
  args: { job: argument('A job file; or a run directory, as plan and run print it') },
  flags: {
    ...rowChoice,
    to: {
      ...text('Only the message to this number, or why it gets none'),
      conflicts: ['row', 'longest', 'ucs2', 'random'],
    },
    count: { ...whole('How many rows of each step', 1, 1000), default: 5 },
    'show-numbers': yes('Show whole numbers; by default they are masked'),
    json,
  },
  examples: [['jobs/spring-sale.yaml --ucs2', 'which texts cost more, and why']],
  isLook: true,
  run: async ({ job: of, to: written, count, showNumbers, ...choice }, context) => {
    const shown = await openShown(of, context);
    const { job } = shown;
    const to = written === undefined ? undefined : readNumber(written, job).e164;
    const chosen = { choice: { ...choice, to }, count };
    const steps = await readShownRows(shown, chosen, context);
    const rows = steps.flatMap((step) => describeRows(step, job, showNumbers));
    // Who asks for a row or a number that is not there has mistyped it.
    if (rows.length === 0 && choice.row !== undefined) {
      const most = Math.max(0, ...steps.map(({ seen }) => seen));
      throw refuse(`--row is ${choice.row}, expected the number of a row, from 1 to ${most}`);
    }
    if (rows.length === 0 && written !== undefined)
      throw refuse('--to names a number that no row has, expected one of them');
    const text = rows.map((row) => formatRow(row, context.screen)).join('\n');
    return {
      json: { job: job.name, state: 'previewed', rows },
      text: text === '' ? 'There is no such message to send.\n' : text,
      reason: countOf(rows.length, 'row'),
    };
  },
});

/** A planned run, or a job as its file stands. */
export type Shown = Awaited<ReturnType<typeof openShown>>;

export async function openShown(written: string, context: Context) {
  const { files, clock } = context.env;
  const found = await files.stat(await findRunPath(written, files));
  if (found?.isDirectory !== true) return { job: fixDates(await loadJob(written), clock.now()), run: undefined };
  const run = await openRunDirectory(context, written);
  return { job: run.plan.job, run };
}

/** Reads rows of a run as it was planned, or of a job as it would be now. `task` completes "Cannot …". */
export async function readShownRows(
  { job, run }: Shown,
  chosen: ChosenRows,
  context: Context,
  task = 'preview the job',
): Promise<readonly PreviewedStep[]> {
  if (run !== undefined) return previewRun(context.env.files, run, chosen);
  return previewJob(job, await createPlanDeps(context), { ...chosen, task });
}

/** A number as people write it, in a country of the job where it has no `+`. */
export function readNumber(to: string, job: Job): AcceptedNumber {
  const countries = [undefined, ...job.steps.map((step) => ('input' in step ? step.input.country : undefined))];
  for (const country of countries) {
    const number = normalizeNumber(to, country);
    if (number.ok) return number;
  }
  throw new UserError('bad-flag', 'Cannot use --to: it is not a number, expected one with + and its country code');
}

function refuse(what: string): UserError {
  return new UserError('bad-flag', `Cannot preview: ${what}`);
}
