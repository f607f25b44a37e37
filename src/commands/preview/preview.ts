import { UserError } from '../../domain/errors.js';
import type { Job } from '../../job/job.js';
import { loadJob } from '../../job/load.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { RowChoice } from '../../preview/choose-rows.js';
import { previewJob } from '../../preview/plan-in-memory.js';
import { type PreviewedStep, previewRun } from '../../preview/read-run.js';
import { createPlanDeps, type Host, runtimeOf } from '../support/deps.js';
import { placeProblems } from '../support/place-problems.js';
import { openRunDirectory } from '../support/run-directory.js';
import { printResult } from '../terminal/print.js';
import { screenOf } from '../terminal/screen.js';
import { type DescribedRow, describeRow, formatRow } from './format-preview.js';

export interface PreviewFlags {
  /** A job file or a run directory. */
  readonly of: string;
  readonly row?: string | undefined;
  readonly to?: string | undefined;
  readonly longest?: boolean | undefined;
  readonly ucs2?: boolean | undefined;
  readonly random?: string | undefined;
  readonly count?: string | undefined;
  readonly showNumbers?: boolean | undefined;
  readonly json: boolean | undefined;
}

const DEFAULT_COUNT = 5;
const MAX_COUNT = 1000;

/** `volley preview JOB|RUN`: messages as people get them, with the rows behind them. Writes nothing and sends nothing. */
export async function preview(flags: PreviewFlags, host: Host): Promise<number> {
  const { files } = runtimeOf(host);
  const found = await files.stat(flags.of);
  const choose = (job: Job) => ({ choice: readChoice(flags, job), count: readCount(flags) });
  const { job, steps } = found?.isDirectory === true ? await ofRun() : await ofJob();
  async function ofRun() {
    const { directory, plan } = await openRunDirectory(flags.of, files);
    return { job: plan.job, steps: await previewRun(files, { directory, plan }, choose(plan.job)) };
  }
  async function ofJob() {
    const job = await loadJob(flags.of);
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
  return rows.map((each) => describeRow(each, { number, step, input: inputs[each.row.file], showNumbers }));
}

/** Who asks for a row or a number that is not there has mistyped it. */
function assertFound(rows: readonly DescribedRow[], steps: readonly PreviewedStep[], flags: PreviewFlags): void {
  if (rows.length > 0) return;
  const most = Math.max(0, ...steps.map(({ seen }) => seen));
  if (flags.row !== undefined) {
    throw refuse(`--row is ${flags.row}, expected the number of a row, from 1 to ${most}`);
  }
  if (flags.to !== undefined) {
    throw refuse('--to names a number that no message is for, expected one that is sent to', NOT_SENT);
  }
}

const NOT_SENT = 'Numbers that are rejected or skipped stand in the files that volley report writes for a run.';

function readChoice({ row, to, longest, ucs2, random }: PreviewFlags, job: Job): RowChoice {
  const asked = [row !== undefined, to !== undefined, longest === true, ucs2 === true, random !== undefined];
  if (asked.filter(Boolean).length > 1) {
    throw refuse('several of --row, --to, --longest, --ucs2 and --random are given, expected one at most');
  }
  if (row !== undefined && !/^[1-9]\d{0,14}$/.test(row)) {
    throw refuse(`--row is ${JSON.stringify(row)}, expected the number of a row, from 1, without the header`);
  }
  return { row: row === undefined ? undefined : Number(row), to: to && readNumber(to, job), longest, ucs2, random };
}

function readNumber(to: string, job: Job): string {
  const countries = [undefined, ...job.steps.map((step) => ('input' in step ? step.input.country : undefined))];
  for (const country of countries) {
    const number = normalizeNumber(to, country);
    if (number.ok) return number.e164;
  }
  throw refuse('--to is not a number, expected one with + and its country code');
}

function readCount({ count }: PreviewFlags): number {
  if (count === undefined) return DEFAULT_COUNT;
  if (/^\d{1,4}$/.test(count) && Number(count) >= 1 && Number(count) <= MAX_COUNT) return Number(count);
  throw refuse(`--count is ${JSON.stringify(count)}, expected a number from 1 to ${MAX_COUNT}`);
}

function refuse(what: string, hint?: string): UserError {
  return new UserError('bad-flag', `Cannot preview: ${what}`, hint === undefined ? {} : { hint });
}
