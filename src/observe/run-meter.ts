import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isRowKind } from '../domain/areas.js';
import type { Balance } from '../domain/row.js';
import type { Job } from '../job/job.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import { readOpenDoubt } from '../registry/open-doubt.js';
import { balanceOf } from '../report/row-balance.js';
import { addBalances, type OpenDoubt, type Summary } from '../report/summary.js';
import type { Progress } from '../run/run-deps.js';
import type { RunObserver } from '../run/run-observer.js';
import type { Files } from '../storage/files.js';
import { RUN_METRICS, SEND_METRICS } from './metric-list.js';
import { createMetricSet } from './metric-set.js';
import { SendMeter } from './send-meter.js';

/** How a command on the job ended, in seconds since 1970; carried from one file to the next. */
export interface LastEnd {
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

/** The figures of one command on one job. */
export class RunMeter implements RunObserver {
  readonly #files: Files;
  readonly #onBegun: (job: string) => Promise<void>;
  readonly #shared = { job_name: '' };
  readonly #set = createMetricSet({ ...RUN_METRICS, ...SEND_METRICS }, this.#shared);
  readonly #sending = new SendMeter(this.#set.metrics);
  #job: Job | undefined;
  /** By the id of their plan. */
  readonly #runs = new Map<string, readonly StepRows[]>();
  #inDoubt = new Map<string, number>();
  #current: { readonly plan: string; readonly directory: string } | undefined;
  #jobDirectory: string | undefined;

  /** `onBegun` is called once the job is this command's alone. */
  constructor({ files, onBegun }: { files: Files; onBegun: (job: string) => Promise<void> }) {
    this.#files = files;
    this.#onBegun = onBegun;
  }

  /** Undefined until it is known. */
  get job(): string | undefined {
    return this.#job?.name;
  }

  readonly onJob = (job: Job): void => {
    this.#job = job;
    this.#shared.job_name = job.name;
  };

  readonly onBegin = async (jobDirectory: string): Promise<void> => {
    this.#jobDirectory = jobDirectory;
    const { metrics } = this.#set;
    metrics.running.set(1);
    const isSandbox = this.#job?.service.sandbox === true;
    const scope = { isSandbox, isRunning: true };
    // A run that cannot be read is reported where its rows are needed.
    await readOpenDoubt(this.#files, jobDirectory, scope).then(this.onOpenDoubt, () => {});
    await this.#onBegun(this.#shared.job_name);
  };

  readonly onPlanned = ({ step, rows }: { step: number; rows: number }): void => {
    const kind = this.#job?.steps[step - 1]?.kind ?? '';
    this.#set.metrics.planRows.set(rows, { step, kind });
  };

  readonly onPlan = (plan: Plan, seconds: number): void => {
    for (const { number, counts } of plan.steps.filter(hasRows)) this.onPlanned({ step: number, rows: counts.read });
    this.#set.metrics.planDuration.set(seconds);
  };

  readonly onRun = async ({ directory, plan }: { directory: string; plan: Plan }): Promise<void> => {
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
    for (const { number: step, kind } of steps) this.#sending.noteStep({ step, kind });
  };

  readonly onSent = (progress: Progress): void => {
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
  };

  readonly onLane = this.#sending.noteLane;

  readonly onAttempt = this.#sending.noteAttempt;

  readonly noteRequest = this.#sending.noteRequest;

  readonly onReport = ({ plan, balance, withWorkers = 0, steps }: Summary): void => {
    this.#runs.set(plan, steps.filter(hasRows));
    this.#inDoubt.set(plan, balance.inDoubt - withWorkers);
  };

  readonly onOpenDoubt = ({ runs }: OpenDoubt): void => {
    this.#inDoubt = new Map(runs.map(({ run, inDoubt }) => [run, inDoubt ?? 0]));
  };

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
