import { envOf, type Host } from '../command/deps.js';
import { describeFailure, describeRunEnd } from '../command/failure.js';
import { placeProblems } from '../command/place-problems.js';
import { printResult } from '../command/print.js';
import { type CommandEnd, logCommand, type NameFields } from '../command/runner.js';
import { type Screen, screenOf, showCommand, showPath } from '../command/screen.js';
import { endSoonAfter } from '../command/signals.js';
import { escapeText, type Terminal } from '../command/terminal.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { quoteWord } from '../job/explain/quote-word.js';
import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { meterCommand } from '../observe/meter-command.js';
import type { MetricsFlags } from '../observe/metrics-outlets.js';
import { notifyAtEnd } from '../observe/notify-at-end.js';
import { checkGuards } from '../plan/guards.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';
import { isReported, type PastRun, readHistory } from '../registry/history.js';
import { readOpenDoubt } from '../registry/open-doubt.js';
import { listTakenFiles } from '../registry/taken-files.js';
import { writeRunReport } from '../registry/tests/write-run-report.js';
import { EXIT, exitCodeOfOpenDoubt, worstExitCode } from '../report/exit-code.js';
import type { Summary } from '../report/summary.js';
import { assertOwned } from '../retry/assert-owned.js';
import { assertTested } from '../run/assert-tested.js';
import { moveInputs } from '../run/move-inputs.js';
import { assertNotRefused } from '../run/refused-run.js';
import { joinSettings } from '../run/resume.js';
import { assertDue } from '../run/run-times.js';
import { explainDoubt, explainEnd, listFigures } from '../texts/explain-end.js';
import { listLeftOut } from '../texts/file-notices.js';
import { nextOfTakenBack } from '../texts/next-step.js';
import { formatOpenDoubt, formatSummary } from '../texts/summary-text.js';
import { formatNextStep } from '../texts/text-lines.js';
import { planNewInput } from './session/plan-new-input.js';
import { assertUnchanged, type JobSession, withSession } from './session/session.js';

export interface RunFlags {
  readonly job: string;
  readonly again: boolean;
  /** Rows that earlier runs left in doubt do not count for the exit code. */
  readonly ignoreOpenDoubt?: boolean;
  /** Accepts a job directory that was copied or restored. */
  readonly adopt?: boolean;
  /** Waits for the job's `notBefore`. */
  readonly wait?: boolean | undefined;
  readonly metrics?: MetricsFlags | undefined;
  readonly json: boolean | undefined;
}

/** `volley run JOB`: finishes an unfinished run of the job, then plans and applies what is new. Returns the exit code. */
export async function runJob(flags: RunFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'run', file: flags.job }, (name) =>
    meterCommand(terminal, flags.metrics, async (host) => {
      const job = await loadJob(flags.job);
      name({ job: job.name });
      return runNamedJob(job, flags, { host, name });
    }),
  );
}

/** The same for a loaded job. */
export function runLoadedJob(job: Job, flags: LoadedFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'run', job: job.name }, (name) => runNamedJob(job, flags, { host, name }));
}

type LoadedFlags = Omit<RunFlags, 'job'> & Partial<Pick<RunFlags, 'job'>>;

function runNamedJob(
  job: Job,
  flags: LoadedFlags,
  { host, name }: { host: Host; name: NameFields },
): Promise<CommandEnd> {
  return notifyAtEnd(host, 'run', (host) => {
    host.emit?.({ type: 'job', job });
    return runToEnd(job, flags, { host, name });
  });
}

async function runToEnd(
  job: Job,
  flags: LoadedFlags,
  { host, name }: { host: Host; name: NameFields },
): Promise<CommandEnd> {
  const jobDirectory = jobDirectoryOf(job);
  const done: Done = { summaries: [], leftOut: [] };
  if (flags.wait !== true) assertDue(job, envOf(host).clock);
  try {
    await placeProblems({ file: flags.job, files: envOf(host).files }, () =>
      withSession(host, { job, jobDirectory, adopt: flags.adopt, wait: flags.wait }, async (session) => {
        await runInSession(job, flags, { host, session, done });
        // Only now does no step of the job wait for a file.
        const isFinished = done.summaries.every(({ state }) => state === 'finished');
        if (isFinished) await moveInputs(job, { ...session, ...session.runtime });
      }),
    );
  } catch (error) {
    // What was sent before the failure is still reported. A closed stdout must not hide why it failed.
    const last = done.summaries.at(-1);
    if (last !== undefined) name(listFigures(last));
    await printFailed(done, job, { flags, host, error }).catch(() => {});
    throw error;
  }
  return printDone(done, job, { flags, host, name });
}

/** What a command has done so far. */
interface Done {
  /** Of the runs that it finished or applied, in this order. */
  readonly summaries: Summary[];
  leftOut: readonly LeftOut[];
  /** Of a plan that a guard refused. */
  guarded?: Summary;
}

async function runInSession(
  job: Job,
  flags: Pick<RunFlags, 'again'>,
  { host, session, done }: { host: Host; session: JobSession; done: Done },
): Promise<void> {
  const { jobDirectory, log, stop, applyAndReport } = session;
  const { files, clock } = session.runtime;
  const reading = { signal: stop.nothingNew, clock };
  const history = await endSoonAfter(reading, () => readHistory(files, jobDirectory));
  for (const past of history) {
    const isLeft = past.plan.testOf !== undefined || session.registry.state.abandoned.has(past.plan.id);
    if (past.state === 'planned' || isLeft || (await hasEnded(past, session))) continue;
    if (listTakenFiles(session.registry.state, past.plan).length > 0) {
      // Its process died as it began, before anything was sent.
      log.warn(
        `run ${past.plan.id} is not resumed: it had sent nothing, and another run took its files since; to let it go: \`volley abandon ${quoteWord(past.directory)}\``,
        { run: past.plan.id },
      );
      continue;
    }
    log.info(`resuming run ${past.plan.id}, which had not finished`, { run: past.plan.id });
    const summary = await finishRun(past, history, { job, session });
    log.info(`run ${past.plan.id} is ${explainEnd(summary)}`, listFigures(summary));
    done.summaries.push(summary);
    if (summary.state !== 'finished') return;
  }
  const isRepeated = flags.again || job.repeat === 'always';
  // A repeated job whose process died is finished, not sent once more.
  if (done.summaries.length > 0 && isRepeated) return;

  const known =
    done.summaries.length === 0 ? history : await endSoonAfter(reading, () => readHistory(files, jobDirectory));
  const { made, leftOut } = await endSoonAfter(reading, async () =>
    planNewInput(job, {
      host,
      log,
      history: known,
      registry: session.registry,
      isAgain: flags.again,
      isResumed: done.summaries.length > 0,
      signal: stop.nothingNew,
      lock: session.lock,
    }),
  );
  done.leftOut = leftOut;
  if (made === undefined) return;
  try {
    checkGuards(made.plan, job.guards);
    await assertTested(files, { ...made, guards: job.guards }, session.registry.state);
  } catch (error) {
    done.guarded = await writeRunReport(files, made.directory, made.plan);
    host.emit?.({ type: 'guarded', summary: done.guarded });
    log.warn(`a guard stopped the job before anything was sent; the rejections are in ${made.directory}`, {
      event: 'guard',
      run: made.plan.id,
    });
    throw error;
  }
  await session.registry.claimReimported(made, known);
  done.summaries.push(await applyAndReport(made.directory, made.plan, job));
}

/** Finished, with its outputs, and recorded as such. */
async function hasEnded(past: PastRun, { registry, runtime }: JobSession): Promise<boolean> {
  if (past.state !== 'finished') return false;
  return registry.find(past.plan.id)?.ended?.state === 'finished' && (await isReported(runtime.files, past));
}

async function finishRun(
  past: PastRun,
  history: readonly PastRun[],
  { job, session }: { job: Job; session: JobSession },
): Promise<Summary> {
  const { runtime } = session;
  const { directories } = session.registry;
  if (past.state === 'finished') return session.report(past.directory, past.plan);
  await assertNotRefused(runtime.files, past);
  const settings = joinSettings(past.plan, job);
  await endSoonAfter({ signal: session.stop.nothingNew, clock: runtime.clock, doing: 'finish the run' }, async () => {
    // One that had come to its end was not looked at yet: its journal may be an older copy by now.
    await session.registry.assertOwn(past.plan.id);
    await assertUnchanged(past.plan, runtime);
    const sources = { files: runtime.files, registry: session.registry.state, history };
    await assertOwned(sources, { ...past, directories });
    await assertTested(runtime.files, { ...past, guards: job.guards }, session.registry.state);
  });
  return session.applyAndReport(past.directory, past.plan, settings);
}

/**
 * One JSON object: the last run's summary, with earlier finished runs as `earlier`, and the job's open doubt. The exit
 * code is the worst of theirs.
 */
async function printDone(
  { summaries, leftOut }: Done,
  job: Job,
  { flags, host, name }: { flags: Omit<LoadedFlags, 'again'>; host: Host; name: NameFields },
): Promise<CommandEnd> {
  const directory = jobDirectoryOf(job);
  const openDoubt = await readOpenDoubt(envOf(host).files, directory, { isSandbox: job.service.sandbox });
  const own = summaries.map(({ plan }) => plan);
  const others = openDoubt.runs.filter(({ run }) => !own.includes(run));
  const exitCode = worstExitCode([
    ...summaries.map((summary) => summary.exitCode),
    flags.ignoreOpenDoubt ? EXIT.ok : exitCodeOfOpenDoubt(others, job.failOn),
  ]);
  const screen = screenOf(host);
  const doubts = formatOpenDoubt(openDoubt, own, screen);
  const last = summaries.at(-1);
  const reasons = [last === undefined ? 'nothing new' : explainEnd(last), explainDoubt(others)];
  const end = { exitCode, reason: reasons.filter((reason) => reason !== '').join('; ') };
  host.emit?.({ type: 'open-doubt', openDoubt });
  name({ ...(last === undefined ? { state: 'nothing-new' } : listFigures(last)), openDoubt: openDoubt.rows });
  if (last === undefined) {
    const idle = { job: job.name, state: 'nothing-new', directory, exitCode, error: null, leftOut, openDoubt };
    const text = formatIdle(job, leftOut, { path: flags.job, screen });
    await printResult(host, flags, { json: idle, text: `${text}${doubts}` });
    return end;
  }
  const earlier = summaries.length === 1 ? {} : { earlier: summaries.slice(0, -1) };
  const json = { ...describeRunEnd(last), exitCode, ...earlier, openDoubt };
  const nowMs = envOf(host).clock.now();
  const text = formatSummaries(summaries, { job, path: flags.job, nowMs, screen });
  await printResult(host, flags, { json, text: `${text}${doubts}` });
  return end;
}

/** One JSON object: the failure, with earlier finished runs as `earlier`. */
async function printFailed(
  { summaries, guarded }: Done,
  job: Job,
  {
    flags,
    host,
    error,
  }: { flags: Pick<RunFlags, 'json'> & Partial<Pick<RunFlags, 'job'>>; host: Host; error: unknown },
): Promise<void> {
  const failure = describeFailure(error);
  const stop = guarded === undefined ? {} : { stop: { reason: failure.error.code, detail: failure.error.message } };
  const earlier = summaries.length === 0 ? {} : { earlier: summaries };
  const json = { job: job.name, directory: jobDirectoryOf(job), ...guarded, ...stop, ...failure, ...earlier };
  const screen = screenOf(host);
  const nowMs = envOf(host).clock.now();
  await printResult(host, flags, { json, text: formatSummaries(summaries, { job, path: flags.job, nowMs, screen }) });
}

function formatSummaries(
  summaries: readonly Summary[],
  { job, path, ...now }: { job: Job; path: string | undefined; nowMs: number; screen: Screen },
): string {
  const { service, guards } = job;
  const view = { isSandbox: service.sandbox, requiresTest: guards.requireTest, job: path, ...now };
  return summaries.map((summary) => formatSummary(summary, view)).join('\n');
}

/** Also what `plan` says where there is nothing to plan. */
export function formatIdle(
  job: Job,
  leftOut: readonly LeftOut[],
  { path, screen }: { path: string | undefined; screen: Screen },
): string {
  const files = listLeftOut(leftOut)
    .map((line) => `  ${escapeText(line)}\n`)
    .join('');
  const takenBack = [...new Set(leftOut.flatMap(({ takenBackFrom }) => takenBackFrom ?? []))];
  const retries = takenBack.map((run) => formatNextStep(nextOfTakenBack(run, path, screen), screen)).join('');
  const again = path === undefined ? '--again' : showCommand(screen, 'run', showPath(screen, path), '--again');
  return (
    `Nothing new for job ${job.name}: nothing was sent.\n${files}` +
    `Results of earlier runs: ${escapeText(showPath(screen, jobDirectoryOf(job)))}\n` +
    (retries === '' ? `To send the same files again: ${escapeText(again)}\n` : retries)
  );
}
