import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkEvent } from '../cluster/work-on-run.js';
import { envOf, type Host, openLog, watchedBy } from '../command/deps.js';
import { SecretKeeper } from '../command/terminal.js';
import { isRowKind } from '../domain/areas.js';
import type { Balance } from '../domain/row.js';
import type { Job } from '../job/job.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import { withFields } from '../ports/log.js';
import { readOpenDoubt } from '../registry/open-doubt.js';
import { balanceOf } from '../report/row-balance.js';
import { addBalances } from '../report/summary.js';
import type { Progress } from '../run/run-deps.js';
import type { Files } from '../storage/files.js';
import { RUN_METRICS, SEND_METRICS } from './metric-list.js';
import { createMetricSet } from './metric-set.js';
import { readMetricsFile } from './metrics-file.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';
import { SendMetrics } from './send-metrics.js';

/** The process that has the job keeps its file; before `notBefore` nothing has begun. */
const NOT_ITS_TURN: ReadonlySet<string> = new Set(['lock-held', 'not-yet']);

/**
 * The figures of a command on a job, and where they go. `end` takes the exit code, and the code of the error; it throws nothing.
 * Refuses, with UserError 'bad-flag', a port that cannot be had.
 */
export async function openRunMetrics(
  host: Host,
  flags: MetricsFlags,
): Promise<{ readonly host: Host; end(exitCode: number, failure?: string): Promise<void> }> {
  const { files, clock } = envOf(host);
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ event: 'metrics', job: metrics.job }));
  const metrics = new RunMetrics(files);
  const { file, server } = await openOutlets(flags, { render: () => metrics.render(), clock, log });
  const readLast = async (job: string) => {
    if (file !== undefined) metrics.noteEnd(readLastEnd(await readMetricsFile(file.path), job));
  };
  const watch = async (event: WorkEvent) => {
    await metrics.watch(event);
    if (event.type !== 'begin') return;
    await readLast(metrics.job ?? '');
    file?.begin();
  };
  return {
    host: watchedBy(host, watch),
    end: async (exitCode, failure) => {
      metrics.close();
      if (metrics.job === undefined || NOT_ITS_TURN.has(failure ?? '')) file?.leave();
      else {
        const endSeconds = clock.now() / 1000;
        await readLast(metrics.job);
        metrics.noteEnd({ exitCode, endSeconds, ...(exitCode === 0 ? { successSeconds: endSeconds } : {}) });
        await file?.finish();
      }
      await server?.close();
    },
  };
}

/**
 * How the command before this one ended, from its file; unknown where the file holds no metrics of that job. No success yet is 0, and not
 * unknown: what is absent sets off no alert.
 */
function readLastEnd(text: string, job: string): LastEnd {
  const lines = text.split('\n');
  const read = ({ name }: { name: string }) => {
    const start = `${name}{job_name="${job}"} `;
    const value = Number(lines.find((line) => line.startsWith(start))?.slice(start.length));
    return Number.isFinite(value) ? value : undefined;
  };
  const { lastExitCode, lastEnd, lastSuccess } = RUN_METRICS;
  return { exitCode: read(lastExitCode), endSeconds: read(lastEnd), successSeconds: read(lastSuccess) ?? 0 };
}

/** How a command on the job ended, in seconds since 1970; carried from one file to the next. */
interface LastEnd {
  readonly exitCode?: number | undefined;
  readonly endSeconds?: number | undefined;
  readonly successSeconds?: number | undefined;
}

interface StepRows {
  readonly number: number;
  readonly kind: string;
  balance: Balance;
  /** Where this process began, and what of it `Progress` counts. */
  readonly atStart?: { readonly balance: Balance; readonly settled: Settled } | undefined;
}

type Settled = Pick<Balance, 'accepted' | 'rejected' | 'inDoubt'>;

class RunMetrics {
  readonly #files: Files;
  readonly #shared = { job_name: '' };
  readonly #set = createMetricSet({ ...RUN_METRICS, ...SEND_METRICS }, this.#shared);
  readonly #sending = new SendMetrics(this.#set.metrics);
  #job: Job | undefined;
  /** By the id of their plan. */
  readonly #runs = new Map<string, readonly StepRows[]>();
  #inDoubt = new Map<string, number>();
  #current: { readonly plan: string; readonly directory: string } | undefined;
  #jobDirectory: string | undefined;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Undefined until it is known. */
  get job(): string | undefined {
    return this.#job?.name;
  }

  async watch(event: WorkEvent): Promise<void> {
    switch (event.type) {
      case 'job':
        this.#job = event.job;
        this.#shared.job_name = event.job.name;
        return;
      case 'begin':
        return this.#begin(event.jobDirectory);
      case 'reading':
        return this.#setPlanRows(event.step, event.rows);
      case 'plan':
        for (const { number, counts } of event.plan.steps.filter(hasRows)) this.#setPlanRows(number, counts.read);
        return this.#set.metrics.planDuration.set(event.seconds);
      case 'run':
        return this.#noteRun(event.directory, event.plan);
      case 'sent':
        return this.#noteSent(event.progress);
      case 'report': {
        const { plan, balance, withWorkers = 0, steps } = event.summary;
        this.#runs.set(plan, steps.filter(hasRows));
        this.#inDoubt.set(plan, balance.inDoubt - withWorkers);
        return;
      }
      case 'open-doubt':
        this.#inDoubt = new Map(event.openDoubt.runs.map(({ run, inDoubt }) => [run, inDoubt ?? 0]));
        return;
      default:
        this.#sending.watch(event);
    }
  }

  async #begin(jobDirectory: string): Promise<void> {
    this.#jobDirectory = jobDirectory;
    this.#set.metrics.running.set(1);
    const scope = { isSandbox: this.#job?.service.sandbox === true, isRunning: true };
    // A run that cannot be read is reported where its rows are needed.
    const openDoubt = await readOpenDoubt(this.#files, jobDirectory, scope).catch(() => undefined);
    if (openDoubt !== undefined) await this.watch({ type: 'open-doubt', openDoubt });
  }

  #setPlanRows(step: number, rows: number): void {
    const kind = this.#job?.steps[step - 1]?.kind ?? '';
    this.#set.metrics.planRows.set(rows, { step, kind });
  }

  async #noteRun(directory: string, plan: Plan): Promise<void> {
    this.#current = { plan: plan.id, directory };
    // A journal that cannot be read ends the run by itself, with its reason.
    const read = await readRunState(this.#files, join(directory, JOURNAL_FILE)).catch(() => undefined);
    if (read === undefined) return;
    const { state } = read;
    const steps = plan.steps.filter(hasRows).map((planned) => {
      const { number, kind } = planned;
      const balance = balanceOf(planned, state);
      const { accepted, rejected, 'in-doubt': inDoubt } = state.step(number).settledRows;
      return { number, kind, balance, atStart: { balance, settled: { accepted, rejected, inDoubt } } };
    });
    this.#runs.set(plan.id, steps);
    for (const { number: step, kind } of steps) this.#sending.begin({ step, kind });
  }

  #noteSent(progress: Progress): void {
    const { plan = '' } = this.#current ?? {};
    const steps = this.#runs.get(plan) ?? [];
    const step = steps.find(({ number }) => number === progress.step);
    if (step?.atStart === undefined) return;
    const { balance, settled } = step.atStart;
    const more = (of: keyof Settled) => progress[of] - settled[of];
    step.balance = {
      ...balance,
      accepted: balance.accepted + more('accepted'),
      rejected: balance.rejected + more('rejected'),
      inDoubt: balance.inDoubt + more('inDoubt'),
      unprocessed: balance.unprocessed - more('accepted') - more('rejected') - more('inDoubt'),
    };
    this.#inDoubt.set(plan, addBalances(steps.map((each) => each.balance)).inDoubt);
  }

  /** How an earlier command ended, or this one. */
  noteEnd({ exitCode, endSeconds, successSeconds }: LastEnd): void {
    const { lastExitCode, lastEnd, lastSuccess } = this.#set.metrics;
    if (exitCode !== undefined) lastExitCode.set(exitCode);
    if (endSeconds !== undefined) lastEnd.set(endSeconds);
    if (successSeconds !== undefined) lastSuccess.set(successSeconds);
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#set.metrics.running.set(0);
    this.#sending.close();
  }

  /** The text for Prometheus. */
  async render(): Promise<string> {
    if (this.#jobDirectory !== undefined) {
      this.#setRows();
      this.#sending.readLanes();
      await this.#setDisk(this.#jobDirectory).catch(() => {});
    }
    return this.#set.render();
  }

  #setRows(): void {
    const { metrics } = this.#set;
    const all = [...this.#runs.values()].flat();
    for (const { number: step, kind } of all) {
      const own = all.filter((each) => each.number === step && each.kind === kind);
      const { accepted, rejected, skipped, inDoubt, unprocessed } = addBalances(own.map(({ balance }) => balance));
      for (const [outcome, rows] of Object.entries({ accepted, rejected, skipped, in_doubt: inDoubt })) {
        metrics.rows.set(rows, { step, kind, outcome });
      }
      metrics.unprocessed.set(unprocessed, { step, kind });
    }
    metrics.inDoubt.set([...this.#inDoubt.values()].reduce((sum, rows) => sum + rows, 0));
  }

  async #setDisk(jobDirectory: string): Promise<void> {
    const { diskAvailable, runBytes } = this.#set.metrics;
    const { bavail, bsize } = await statfs(jobDirectory);
    diskAvailable.set(bavail * bsize);
    if (this.#current === undefined) return;
    const { directory } = this.#current;
    let bytes = 0;
    for (const name of await this.#files.list(directory)) {
      bytes += (await this.#files.stat(join(directory, name)))?.bytes ?? 0;
    }
    runBytes.set(bytes);
  }
}

function hasRows({ kind }: { readonly kind: string }): boolean {
  return isRowKind(kind);
}
