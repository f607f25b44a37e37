import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Context } from '../command/context.js';
import { SendMetrics } from './figures.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';

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
