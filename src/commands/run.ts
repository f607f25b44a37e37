import { nodeFiles } from '../files.js';
import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { checkGuards } from '../plan/guards.js';
import type { LeftOut } from '../plan/select.js';
import { EXIT } from '../report/exit-code.js';
import type { Summary } from '../report/summary.js';
import { writeReport } from '../report/write-report.js';
import { type PastRun, readHistory } from '../run/history.js';
import { assertInputsUnchanged, joinSettings } from '../run/resume.js';
import { planNewInput } from './make-plan.js';
import { printResult } from './print.js';
import { formatSummary } from './print-summary.js';
import { jobDirectoryOf, type Session, withSession } from './session.js';
import { escapeText, type Terminal } from './terminal.js';

export interface RunFlags {
  readonly job: string;
  readonly again: boolean;
  readonly json: boolean | undefined;
}

/** `volley run JOB`: finishes an unfinished run of the job, then plans and applies what is new. Returns the exit code. */
export async function runJob(flags: RunFlags, terminal: Terminal): Promise<number> {
  const job = await loadJob(flags.job);
  const jobDirectory = jobDirectoryOf(job);
  const done = await withSession(terminal, { job, jobDirectory }, (session) =>
    runInSession(job, flags, terminal, session),
  );
  if (done.summary !== undefined) {
    await printResult(terminal, flags, {
      json: done.summary,
      text: formatSummary(done.summary, { isSandbox: job.service.sandbox }),
    });
    return done.summary.exitCode;
  }
  const idle = {
    job: job.name,
    state: 'nothing-new',
    directory: jobDirectory,
    exitCode: EXIT.ok,
    leftOut: done.leftOut,
  };
  await printResult(terminal, flags, { json: idle, text: formatIdle(job, done.leftOut) });
  return EXIT.ok;
}

interface Done {
  /** Of the last run that was applied; undefined when there was nothing to do. */
  readonly summary: Summary | undefined;
  readonly leftOut: readonly LeftOut[];
}

async function runInSession(job: Job, flags: RunFlags, terminal: Terminal, session: Session): Promise<Done> {
  const { jobDirectory, log, stop, applyAndReport } = session;
  const history = await readHistory(nodeFiles, jobDirectory);
  let summary: Summary | undefined;
  for (const past of history.filter((run) => run.state === 'unfinished')) {
    log.info(`going on with run ${past.plan.id}, which did not come to its end`);
    summary = await finishRun(past, job, session);
    if (summary.state !== 'finished') return { summary, leftOut: [] };
  }
  const isRepeated = flags.again || job.repeat === 'always';
  // A repeated job whose process died is finished, not sent once more.
  if (summary !== undefined && isRepeated) return { summary, leftOut: [] };

  const now = summary === undefined ? history : await readHistory(nodeFiles, jobDirectory);
  const { made, leftOut } = await planNewInput(job, {
    terminal,
    log,
    jobDirectory,
    history: now,
    isAgain: flags.again,
    signal: stop.nothingNew,
  });
  if (made === undefined) return { summary, leftOut };
  try {
    checkGuards(made.plan, job.guards);
  } catch (error) {
    await writeReport(nodeFiles, made.directory, made.plan);
    log.warn(`the rejections are in ${made.directory}`);
    throw error;
  }
  return { summary: await applyAndReport(made.directory, made.plan, job), leftOut };
}

async function finishRun(past: PastRun, job: Job, session: Session): Promise<Summary> {
  const { digestInput } = await import('../read/digest.js');
  const settings = joinSettings(past.plan, job);
  await assertInputsUnchanged(past.plan, { files: nodeFiles, digestInput });
  return session.applyAndReport(past.directory, past.plan, settings);
}

function formatIdle(job: Job, leftOut: readonly LeftOut[]): string {
  const files = leftOut.map(({ file, reason }) => `  ${escapeText(file)} ${escapeText(reason)}\n`).join('');
  return (
    `Nothing new for job ${job.name}: nothing was sent.\n${files}` +
    `Results of earlier runs: ${escapeText(jobDirectoryOf(job))}\nTo send the same files once more: --again\n`
  );
}
