import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { checkGuards } from '../plan/guards.js';
import type { LeftOut } from '../plan/select.js';
import { EXIT, exitCodeOfOpenDoubt, gravestOf } from '../report/exit-code.js';
import type { Summary } from '../report/summary.js';
import { writeReport } from '../report/write-report.js';
import { isReported, type PastRun, readHistory } from '../run/history.js';
import { readOpenDoubt } from '../run/open-doubt.js';
import { joinSettings } from '../run/resume.js';
import { assertGiven } from '../run/retry-given.js';
import { type Host, worldOf } from './deps.js';
import { planNewInput } from './make-plan.js';
import { printResult } from './print.js';
import { formatOpenDoubt } from './print-open-doubt.js';
import { formatSummary } from './print-summary.js';
import { type Screen, screenOf, showCommand, showPath } from './screen.js';
import { assertUnchanged, jobDirectoryOf, type Session, withSession } from './session.js';
import { escapeText, type Terminal } from './terminal.js';

export interface RunFlags {
  readonly job: string;
  readonly again: boolean;
  /** Rows that earlier runs left in doubt do not count for the exit code. */
  readonly ignoreOpenDoubt?: boolean;
  readonly json: boolean | undefined;
}

/** `volley run JOB`: finishes an unfinished run of the job, then plans and applies what is new. Returns the exit code. */
export async function runJob(flags: RunFlags, terminal: Terminal): Promise<number> {
  return runLoadedJob(await loadJob(flags.job), flags, terminal);
}

/** The same for a job that was read already. */
export async function runLoadedJob(
  job: Job,
  flags: Omit<RunFlags, 'job'> & Partial<Pick<RunFlags, 'job'>>,
  host: Host,
): Promise<number> {
  const jobDirectory = jobDirectoryOf(job);
  const done: Done = { summaries: [], leftOut: [] };
  try {
    await withSession(host, { job, jobDirectory }, (session) => runInSession(job, flags, { host, session, done }));
  } catch (error) {
    // What was sent before the failure is told all the same.
    if (done.summaries.length > 0) await printDone(done, job, { flags, host });
    throw error;
  }
  return printDone(done, job, { flags, host });
}

/** What a command has done so far. */
interface Done {
  /** Of the runs that it finished or applied, in this order. */
  readonly summaries: Summary[];
  leftOut: readonly LeftOut[];
}

async function runInSession(
  job: Job,
  flags: Pick<RunFlags, 'again'>,
  { host, session, done }: { host: Host; session: Session; done: Done },
): Promise<void> {
  const { jobDirectory, log, stop, applyAndReport } = session;
  const { files } = session.world;
  const history = await readHistory(files, jobDirectory);
  for (const past of history) {
    if (past.state === 'planned' || (past.state === 'finished' && (await isReported(files, past)))) continue;
    log.info(`going on with run ${past.plan.id}, which did not come to its end`);
    const summary = await finishRun(past, history, { job, session });
    done.summaries.push(summary);
    if (summary.state !== 'finished') return;
  }
  const isRepeated = flags.again || job.repeat === 'always';
  // A repeated job whose process died is finished, not sent once more.
  if (done.summaries.length > 0 && isRepeated) return;

  const { made, leftOut } = await planNewInput(job, {
    host,
    log,
    jobDirectory,
    history: await readHistory(files, jobDirectory),
    isAgain: flags.again,
    signal: stop.nothingNew,
    lock: session.lock,
  });
  done.leftOut = leftOut;
  if (made === undefined) return;
  try {
    checkGuards(made.plan, job.guards);
  } catch (error) {
    await writeReport(files, made.directory, made.plan);
    log.warn(`the rejections are in ${made.directory}`);
    throw error;
  }
  done.summaries.push(await applyAndReport(made.directory, made.plan, job));
}

async function finishRun(
  past: PastRun,
  history: readonly PastRun[],
  { job, session }: { job: Job; session: Session },
): Promise<Summary> {
  const { world, jobDirectory } = session;
  if (past.state === 'finished') return writeReport(world.files, past.directory, past.plan);
  const settings = joinSettings(past.plan, job);
  await assertUnchanged(past.plan, world);
  await assertGiven(world.files, { plan: past.plan, jobDirectory, history });
  return session.applyAndReport(past.directory, past.plan, settings);
}

/**
 * One JSON object: the last run's summary, with those that it finished before as `earlier`, and what of the job is in doubt.
 * Returns the exit code, the gravest of theirs.
 */
async function printDone(
  { summaries, leftOut }: Done,
  job: Job,
  { flags, host }: { flags: Omit<RunFlags, 'job' | 'again'> & Partial<Pick<RunFlags, 'job'>>; host: Host },
): Promise<number> {
  const isSandbox = job.service.sandbox;
  const directory = jobDirectoryOf(job);
  const openDoubt = await readOpenDoubt(worldOf(host).files, directory, { isSandbox });
  const own = summaries.map(({ plan }) => plan);
  const others = openDoubt.runs.filter(({ run }) => !own.includes(run));
  const exitCode = gravestOf([
    ...summaries.map((summary) => summary.exitCode),
    flags.ignoreOpenDoubt ? EXIT.ok : exitCodeOfOpenDoubt(others, job.failOn),
  ]);
  const screen = screenOf(host);
  const doubts = formatOpenDoubt(openDoubt, own, screen);
  const last = summaries.at(-1);
  if (last === undefined) {
    const idle = { job: job.name, state: 'nothing-new', directory, exitCode, leftOut, openDoubt };
    const text = formatIdle(job, leftOut, { path: flags.job, screen });
    await printResult(host, flags, { json: idle, text: `${text}${doubts}` });
    return exitCode;
  }
  const earlier = summaries.length === 1 ? {} : { earlier: summaries.slice(0, -1) };
  const json = { ...last, exitCode, ...earlier, openDoubt };
  const view = { isSandbox, job: flags.job, screen };
  const text = summaries.map((summary) => formatSummary(summary, view)).join('\n');
  await printResult(host, flags, { json, text: `${text}${doubts}` });
  return exitCode;
}

/** Also what `plan` says where there is nothing to plan. */
export function formatIdle(
  job: Job,
  leftOut: readonly LeftOut[],
  { path, screen }: { path: string | undefined; screen: Screen },
): string {
  const files = leftOut.map(({ file, reason }) => `  ${escapeText(file)} ${escapeText(reason)}\n`).join('');
  const again = path === undefined ? '--again' : showCommand(screen, 'run', showPath(screen, path), '--again');
  return (
    `Nothing new for job ${job.name}: nothing was sent.\n${files}` +
    `Results of earlier runs: ${escapeText(showPath(screen, jobDirectoryOf(job)))}\n` +
    `To send the same files once more: ${escapeText(again)}\n`
  );
}
