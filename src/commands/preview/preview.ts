import { createPlanDeps, envOf, type Host } from '../../command/deps.js';
import { placeProblems } from '../../command/place-problems.js';
import { printResult } from '../../command/print.js';
import { findRunPath, openRunDirectory } from '../../command/run-directory.js';
import { screenOf } from '../../command/screen.js';
import { UserError } from '../../domain/errors.js';
import { fixDates } from '../../job/fix-dates.js';
import type { Job } from '../../job/job.js';
import { loadJob } from '../../job/load.js';
import { previewJob } from '../../preview/plan-in-memory.js';
import { type PreviewedStep, previewRun } from '../../preview/read-run.js';
import { type DescribedRow, describeRow, formatRow } from './format-preview.js';
import { readChoice, readCount, readNumberFlag, type WrittenChoice } from './row-choice.js';

export interface PreviewFlags extends WrittenChoice {
  /** A job file or a run directory. */
  readonly of: string;
  readonly showNumbers?: boolean | undefined;
  readonly json: boolean | undefined;
}

const COUNT = { default: 5, most: 1000 };

/** `volley preview JOB|RUN`: messages as people get them, with the rows behind them. Writes nothing and sends nothing. */
export async function preview(flags: PreviewFlags, host: Host): Promise<number> {
  const { files, clock } = envOf(host);
  const found = await files.stat(await findRunPath(flags.of, files));
  const choose = (job: Job) => {
    const to = flags.to === undefined ? undefined : readNumberFlag(flags.to, job, refuse).e164;
    return { choice: readChoice({ ...flags, to }, refuse), count: readCount(flags, COUNT, refuse) };
  };
  const { job, steps } = found?.isDirectory === true ? await ofRun() : await ofJob();
  async function ofRun() {
    const { directory, plan } = await openRunDirectory(flags.of, files);
    return { job: plan.job, steps: await previewRun(files, { directory, plan }, choose(plan.job)) };
  }
  async function ofJob() {
    const job = fixDates(await loadJob(flags.of), clock.now());
    const deps = await createPlanDeps(host, { onProgress: () => {}, signal: new AbortController().signal });
    const planned = () => previewJob(job, deps, choose(job));
    return { job, steps: await placeProblems({ file: flags.of, files }, planned) };
  }
  const rows = steps.flatMap((step) => describeStep(step, { job, showNumbers: flags.showNumbers === true }));
  assertFound(rows, steps, flags);
  const screen = screenOf(host);
  const text = rows.map((row) => formatRow(row, screen)).join('\n');
  await printResult(host, flags, {
    json: { job: job.name, state: 'previewed', rows, exitCode: 0, error: null },
    text: text === '' ? 'There is nothing to send.\n' : text,
  });
  return 0;
}

function describeStep(
  { number, inputs, rows }: PreviewedStep,
  { job, showNumbers }: { job: Job; showNumbers: boolean },
): DescribedRow[] {
  const step = job.steps[number - 1];
  if (step === undefined) return [];
  const currency = job.prices?.currency;
  return rows.map((each) => describeRow(each, { number, step, input: inputs[each.row.file], currency, showNumbers }));
}

/** Who asks for a row or a number that is not there has mistyped it. */
function assertFound(rows: readonly DescribedRow[], steps: readonly PreviewedStep[], flags: PreviewFlags): void {
  if (rows.length > 0) return;
  const most = Math.max(0, ...steps.map(({ seen }) => seen));
  if (flags.row !== undefined) {
    throw refuse(`--row is ${flags.row}, expected the number of a row, from 1 to ${most}`);
  }
  if (flags.to !== undefined) {
    throw refuse('--to names a number that no row has, expected one of them');
  }
}

function refuse(what: string): UserError {
  return new UserError('bad-flag', `Cannot preview: ${what}`);
}
