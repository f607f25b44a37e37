import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Context } from '../command/context.js';
import { isRowKind } from '../domain/areas.js';
import type { Balance } from '../domain/row.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { balanceOf } from '../report/row-balance.js';
import { addBalances } from '../report/summary.js';
import type { Progress } from '../run/run-deps.js';
import type { Files } from '../storage/files.js';
import { setCounter } from './figures.js';
import { NOT_ITS_TURN } from './hook.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';
import { SendMetrics } from './send-metrics.js';

/**
 * The figures of a command on a job, and where they go. `end` takes the exit code, and the code of the error; it throws nothing.
 * Refuses, with UserError 'bad-flag', a port that cannot be had.
 */
export async function openRunMetrics(
  flags: MetricsFlags,
  context: Context,
): Promise<{ end(exitCode: number, failure?: string): Promise<void> }> {
  const { files, clock } = context.env;
  const metrics = new RunMetrics(files);
  const outlets = await openOutlets(flags, metrics, context);
  const readLast = async (job: string) => {
    const text = await outlets.read();
    if (text !== undefined) metrics.noteEnd(readLastEnd(text, job));
  };
  context.watch(async (event) => {
    await metrics.watch(event);
    if (event.type !== 'begin') return;
    await readLast(metrics.job ?? '');
    outlets.begin();
  });
  return {
    end: async (exitCode, failure = '') => {
      metrics.close();
      if (metrics.job === undefined || NOT_ITS_TURN.has(failure)) return outlets.leave();
      const endSeconds = clock.now() / 1000;
      await readLast(metrics.job);
      metrics.noteEnd({ exitCode, endSeconds, ...(exitCode === 0 ? { successSeconds: endSeconds } : {}) });
      return outlets.finish();
    },
  };
}

/**
 * How the command before this one ended, from its file; unknown where the file holds no metrics of that job. No success yet is 0, and not
 * unknown: what is absent sets off no alert.
 */
function readLastEnd(text: string, job: string) {
  const lines = text.split('\n');
  const read = (name: string) => {
    const start = `${name}{job_name="${job}"} `;
    const value = Number(lines.find((line) => line.startsWith(start))?.slice(start.length));
    return Number.isFinite(value) ? value : undefined;
  };
  return { exitCode: read(LAST_EXIT_CODE), endSeconds: read(LAST_END), successSeconds: read(LAST_SUCCESS) ?? 0 };
}

const LAST_EXIT_CODE = 'volley_last_exit_code';
const LAST_END = 'volley_last_end_timestamp_seconds';
const LAST_SUCCESS = 'volley_last_success_timestamp_seconds';

/** How a command on the job ended, in seconds since 1970; carried from one file to the next. */
type LastEnd = Partial<ReturnType<typeof readLastEnd>>;

interface StepRows {
  readonly number: number;
  readonly kind: string;
  balance: Balance;
  /** Where this process began, and what of it `Progress` counts. */
  readonly atStart?: { readonly balance: Balance; readonly settled: Settled } | undefined;
}

type Settled = Pick<Balance, 'accepted' | 'rejected' | 'inDoubt'>;

/** The figures of a command on a job: of the runs that it worked on. */
export class RunMetrics extends SendMetrics {
  readonly #rows = this.counter('volley_rows_total', 'job_name', 'step', 'kind', 'outcome');
  readonly #unprocessed = this.gauge('volley_unprocessed_rows', 'job_name', 'step', 'kind');
  readonly #inDoubtRows = this.gauge('volley_in_doubt_rows', 'job_name');
  readonly #planRows = this.counter('volley_plan_rows_total', 'job_name', 'step', 'kind');
  readonly #planDuration = this.gauge('volley_plan_duration_seconds', 'job_name');
  readonly #runBytes = this.gauge('volley_run_disk_bytes', 'job_name');
  readonly #diskAvailable = this.gauge('volley_disk_available_bytes', 'job_name');
  readonly #running = this.gauge('volley_running', 'job_name');
  readonly #lastExitCode = this.gauge(LAST_EXIT_CODE, 'job_name');
  readonly #lastEnd = this.gauge(LAST_END, 'job_name');
  readonly #lastSuccess = this.gauge(LAST_SUCCESS, 'job_name');
  readonly #files: Files;
  #kinds: readonly string[] = [];
  #isSandbox = false;
  /** By the id of their plan. */
  readonly #runs = new Map<string, readonly StepRows[]>();
  #inDoubt = new Map<string, number>();
  #current: { readonly plan: string; readonly directory: string } | undefined;
  #jobDirectory: string | undefined;

  constructor(files: Files) {
    super();
    this.#files = files;
  }

  override async watch(event: WorkEvent): Promise<void> {
    switch (event.type) {
      case 'job':
        this.job = event.job.name;
        this.#kinds = event.job.steps.map(({ kind }) => kind);
        this.#isSandbox = event.job.service.sandbox;
        return;
      case 'begin':
        return this.#begin(event.jobDirectory);
      case 'reading':
        return this.#notePlanned(event.step, event.rows);
      case 'plan':
        for (const { number, counts } of event.plan.steps.filter(hasRows)) this.#notePlanned(number, counts.read);
        return this.#planDuration.set(this.shared, event.seconds);
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
        return super.watch(event);
    }
  }

  /** How an earlier command ended, or this one. */
  noteEnd({ exitCode, endSeconds, successSeconds }: LastEnd): void {
    if (exitCode !== undefined) this.#lastExitCode.set(this.shared, exitCode);
    if (endSeconds !== undefined) this.#lastEnd.set(this.shared, endSeconds);
    if (successSeconds !== undefined) this.#lastSuccess.set(this.shared, successSeconds);
  }

  override close(): void {
    super.close();
    this.#running.set(this.shared, 0);
  }

  async #begin(jobDirectory: string): Promise<void> {
    this.#jobDirectory = jobDirectory;
    this.#running.set(this.shared, 1);
    const scope = { isSandbox: this.#isSandbox, isRunning: true };
    // A run that cannot be read is reported where its rows are needed.
    const openDoubt = await readOpenDoubt(this.#files, jobDirectory, scope).catch(() => undefined);
    if (openDoubt !== undefined) await this.watch({ type: 'open-doubt', openDoubt });
  }

  #notePlanned(step: number, rows: number): void {
    setCounter(this.#planRows, { ...this.shared, step, kind: this.#kinds[step - 1] ?? '' }, rows);
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
    for (const { number, kind } of steps) this.begin(number, kind);
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

  /** Of each step, over all runs of the command. */
  #listBalances(): { labels: Record<string, string | number>; balance: Balance }[] {
    const all = [...this.#runs.values()].flat();
    return all.map(({ number: step, kind }) => {
      const own = all.filter((each) => each.number === step && each.kind === kind);
      return { labels: { ...this.shared, step, kind }, balance: addBalances(own.map(({ balance }) => balance)) };
    });
  }

  protected override async collect(): Promise<void> {
    super.collect();
    for (const { labels, balance } of this.#listBalances()) {
      const { accepted, rejected, skipped, inDoubt, unprocessed } = balance;
      for (const [outcome, rows] of Object.entries({ accepted, rejected, skipped, in_doubt: inDoubt })) {
        setCounter(this.#rows, { ...labels, outcome }, rows);
      }
      this.#unprocessed.set(labels, unprocessed);
    }
    if (this.#jobDirectory === undefined) return;
    this.#inDoubtRows.set(
      this.shared,
      [...this.#inDoubt.values()].reduce((sum, each) => sum + each, 0),
    );
    await Promise.all(
      [this.#collectRunBytes(), this.#collectDisk(this.#jobDirectory)].map((each) => each.catch(() => {})),
    );
  }

  async #collectDisk(jobDirectory: string): Promise<void> {
    const { bavail, bsize } = await statfs(jobDirectory);
    this.#diskAvailable.set(this.shared, bavail * bsize);
  }

  async #collectRunBytes(): Promise<void> {
    if (this.#current === undefined) return;
    const { directory } = this.#current;
    let bytes = 0;
    for (const name of await this.#files.list(directory)) {
      bytes += (await this.#files.stat(join(directory, name)))?.bytes ?? 0;
    }
    this.#runBytes.set(this.shared, bytes);
  }
}

function hasRows({ kind }: { readonly kind: string }): boolean {
  return isRowKind(kind);
}
