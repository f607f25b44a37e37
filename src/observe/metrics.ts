import { dirname, join } from 'node:path';
import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Context } from '../command/context.js';
import { isRowKind } from '../domain/areas.js';
import { sumOf } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { readRunState } from '../journal/reader.js';
import type { Listener } from '../listen/listener.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { balanceOf } from '../report/run-rows.js';
import { addBalances } from '../report/summary.js';
import type { Progress } from '../run/run-deps.js';
import { Figures, SendMetrics, setCounter } from './figures.js';
import { NOT_ITS_TURN } from './hook.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';

/**
 * The figures of a command on a job, and where they go. `end` takes the exit code, and the code of the error; it throws nothing.
 * Refuses, with UserError 'bad-flag', a port that cannot be had.
 */
export async function openRunMetrics(flags: MetricsFlags, context: Context) {
  const { clock } = context.env;
  const metrics = new RunMetrics(context.env);
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
    end: async (exitCode: number, failure = ''): Promise<void> => {
      metrics.close();
      if (metrics.job === undefined || NOT_ITS_TURN.has(failure)) return outlets.leave();
      await readLast(metrics.job);
      metrics.noteEnd({ exitCode, ...(exitCode === 0 ? { successSeconds: clock.now() / 1000 } : {}) });
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
  return { exitCode: read(LAST_EXIT_CODE), successSeconds: read(LAST_SUCCESS) ?? 0 };
}

const LAST_EXIT_CODE = 'volley_last_exit_code';
const LAST_SUCCESS = 'volley_last_success_timestamp_seconds';

interface StepRows {
  readonly number: number;
  readonly kind: string;
  balance: Balance;
  /** The balance without what `Progress` counts; absent once the run has its outputs. */
  readonly uncounted?: Balance;
}

type MeasuredDisk = Pick<Context['env'], 'files' | 'freeBytes'>;

/** The figures of a command on a job: of the runs that it worked on. */
export class RunMetrics extends SendMetrics {
  readonly #rows = this.counter('volley_rows_total', 'job_name', 'step', 'kind', 'outcome');
  readonly #unprocessed = this.gauge('volley_unprocessed_rows', 'job_name', 'step', 'kind');
  readonly #inDoubtRows = this.gauge('volley_in_doubt_rows', 'job_name');
  readonly #diskAvailable = this.gauge('volley_disk_available_bytes', 'job_name');
  readonly #running = this.gauge('volley_running', 'job_name');
  readonly #lastExitCode = this.gauge(LAST_EXIT_CODE, 'job_name');
  readonly #lastSuccess = this.gauge(LAST_SUCCESS, 'job_name');
  readonly #env: MeasuredDisk;
  #isSandbox = false;
  /** Steps of the runs, by the id of their plan. */
  readonly #runs = new Map<string, readonly StepRows[]>();
  #inDoubt = new Map<string, number>();
  #plan = '';
  #jobDirectory: string | undefined;

  constructor(env: MeasuredDisk) {
    super();
    this.#env = env;
  }

  override async watch(event: WorkEvent): Promise<void> {
    switch (event.type) {
      case 'job':
        this.job = event.job.name;
        this.#isSandbox = event.job.service.sandbox;
        return;
      case 'begin':
        return this.#begin(event.jobDirectory);
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

  /** How an earlier command on the job ended, or this one, and when one last succeeded, in seconds since 1970. */
  noteEnd({ exitCode, successSeconds }: Partial<ReturnType<typeof readLastEnd>>): void {
    if (exitCode !== undefined) this.#lastExitCode.set(this.shared, exitCode);
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
    const openDoubt = await readOpenDoubt(this.#env.files, jobDirectory, scope).catch(() => undefined);
    if (openDoubt !== undefined) await this.watch({ type: 'open-doubt', openDoubt });
  }

  async #noteRun(directory: string, plan: Plan): Promise<void> {
    this.#plan = plan.id;
    // A journal that cannot be read ends the run by itself, with its reason.
    const read = await readRunState(this.#env.files, join(directory, JOURNAL_FILE)).catch(() => undefined);
    if (read === undefined) return;
    const { state } = read;
    const steps = plan.steps.filter(hasRows).map((planned) => {
      const { number, kind } = planned;
      const balance = balanceOf(planned, state);
      const { accepted, rejected, 'in-doubt': inDoubt } = state.step(number).settledRows;
      const unprocessed = balance.unprocessed + accepted + rejected + inDoubt;
      const uncounted = { ...balance, accepted: 0, rejected: balance.rejected - rejected, inDoubt: 0, unprocessed };
      return { number, kind, balance, uncounted };
    });
    this.#runs.set(plan.id, steps);
    for (const { number, kind } of steps) this.begin(number, kind);
  }

  #noteSent({ step: number, accepted, rejected, inDoubt }: Progress): void {
    const steps = this.#runs.get(this.#plan) ?? [];
    const step = steps.find((each) => each.number === number);
    if (step?.uncounted === undefined) return;
    const { uncounted } = step;
    const unprocessed = uncounted.unprocessed - accepted - rejected - inDoubt;
    step.balance = { ...uncounted, accepted, rejected: uncounted.rejected + rejected, inDoubt, unprocessed };
    this.#inDoubt.set(this.#plan, sumOf(steps.map(({ balance }) => balance.inDoubt)));
  }

  /** Adds up the balance of each step over all runs of the command. */
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
    this.#inDoubtRows.set(this.shared, sumOf(this.#inDoubt.values()));
    const freeBytes = await this.#env.freeBytes?.(this.#jobDirectory).catch(() => undefined);
    if (freeBytes !== undefined) this.#diskAvailable.set(this.shared, freeBytes);
  }
}

function hasRows({ kind }: { readonly kind: string }): boolean {
  return isRowKind(kind);
}

/** It asks the database every two seconds, and a call ends after half a minute at most, also where there is no answer. */
const HANGS_AFTER_MS = 60_000;

/** The figures of a worker. It works on one job at a time, and on others before and after. */
export class WorkMetrics extends SendMetrics {
  readonly #running = this.gauge('volley_worker_running');
  readonly #leaseHeld = this.gauge('volley_worker_lease_held');
  readonly #waits = this.gauge('volley_worker_waits_for_leader');
  #lease: Extract<WorkEvent, { type: 'lease' }>['lease'] | undefined;

  constructor() {
    super();
    this.#running.set(1);
  }

  /** Measures what a worker does, and brings it where the flags say. Refuses, with UserError 'bad-flag', a port that cannot be had. */
  static async measure<T>(flags: MetricsFlags, context: Context, task: () => Promise<T>): Promise<T> {
    const metrics = new WorkMetrics();
    const { clock } = context.env;
    let calledMs = clock.monotonicMs();
    const isLive = () => clock.monotonicMs() - calledMs < HANGS_AFTER_MS;
    const outlets = await openOutlets(flags, metrics, context, isLive);
    outlets.begin();
    context.watch((event) => {
      if (event.type === 'database') calledMs = clock.monotonicMs();
      return metrics.watch(event);
    });
    try {
      return await task();
    } finally {
      metrics.close();
      await outlets.finish();
    }
  }

  override watch(event: WorkEvent): void {
    if (event.type === 'lease') this.#lease = event.lease;
    else if (event.type === 'idle') this.#waits.set(event.waits ? 1 : 0);
    else if (event.type === 'step') {
      this.#waits.set(0);
      this.job = event.job;
      this.begin(event.step, event.kind);
    } else super.watch(event);
  }

  override close(): void {
    super.close();
    this.#lease = undefined;
    this.#running.set(0);
  }

  protected override collect(): void {
    super.collect();
    this.#leaseHeld.set(this.#lease?.isFresh === true ? 1 : 0);
  }
}

type Watched = Pick<Listener, 'counts' | 'failed'>;

/** The figures of a listener; it accepts nothing until `watch` has it. */
export class ListenMetrics extends Figures {
  #watched: Pick<Listener, 'counts'> | undefined;
  readonly #freeBytes: () => Promise<number | undefined>;
  readonly #events = this.counter('volley_events_total', 'outcome');
  readonly #accepting = this.gauge('volley_listener_accepting');
  readonly #diskAvailable = this.gauge('volley_listener_disk_available_bytes');

  constructor(freeBytes: () => Promise<number | undefined>) {
    super();
    this.#freeBytes = freeBytes;
  }

  /** `output`: the file of the events. Refuses, with UserError 'bad-flag', a port that cannot be had. */
  static async serve(flags: MetricsFlags, output: string, context: Context) {
    const metrics = new ListenMetrics(async () => context.env.freeBytes?.(dirname(output)));
    const { finish: close } = await openOutlets(flags, metrics, context);
    return { watch: (listener: Watched) => metrics.watch(listener), close };
  }

  watch(listener: Watched): void {
    this.#watched = listener;
    this.#accepting.set(1);
    void listener.failed.then(() => this.#accepting.set(0));
  }

  protected async collect(): Promise<void> {
    if (this.#watched === undefined) return;
    const { written, duplicates, bad, refused, busy, dropped } = this.#watched.counts;
    const outcomes = { written, duplicate: duplicates, bad, refused, busy, dropped };
    for (const [outcome, count] of Object.entries(outcomes)) setCounter(this.#events, { outcome }, count);
    const freeBytes = await this.#freeBytes().catch(() => undefined);
    if (freeBytes !== undefined) this.#diskAvailable.set(freeBytes);
  }
}
