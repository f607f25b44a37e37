import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Context } from '../command/context.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';
import { SendMetrics } from './send-metrics.js';

/** It asks the database each second, and a call ends after half a minute at most, also where there is no answer. */
const HANGS_AFTER_MS = 60_000;

/** The figures of a worker. It works on one job at a time, and on others before and after. */
export class WorkMetrics extends SendMetrics {
  readonly #running = this.gauge('volley_worker_running');
  readonly #leaseHeld = this.gauge('volley_worker_lease_held');
  readonly #lastBeat = this.gauge('volley_worker_last_beat_timestamp_seconds');
  readonly #claimed = this.gauge('volley_worker_claimed_requests', 'job_name');
  readonly #waits = this.gauge('volley_worker_waits_for_leader');
  readonly #jobs = new Set<string>();
  #lease: Extract<WorkEvent, { type: 'lease' }>['lease'] | undefined;
  #held: Extract<WorkEvent, { type: 'held' }>['held'] | undefined;

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
    if (event.type === 'lease') {
      this.#lease = event.lease;
      this.#held = undefined;
    } else if (event.type === 'held') this.#held = event.held;
    else if (event.type === 'idle') this.#waits.set(event.waits ? 1 : 0);
    else if (event.type === 'step') {
      this.#waits.set(0);
      this.job = event.job;
      this.#jobs.add(event.job);
      this.begin(event.step, event.kind);
    } else super.watch(event);
  }

  override close(): void {
    super.close();
    this.#lease = undefined;
    this.#held = undefined;
    this.#running.set(0);
  }

  protected override collect(): void {
    super.collect();
    const { isFresh = false, lastBeatMs } = this.#lease ?? {};
    this.#leaseHeld.set(isFresh ? 1 : 0);
    if (lastBeatMs !== undefined) this.#lastBeat.set(lastBeatMs / 1000);
    for (const job of this.#jobs) {
      this.#claimed.set({ job_name: job }, job === this.job ? (this.#held?.count ?? 0) : 0);
    }
  }
}
