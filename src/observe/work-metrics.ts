import { Gauge } from 'prom-client';
import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Context } from '../command/context.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';
import { SendMetrics } from './send-metrics.js';

/** It asks the database every other second, and a call ends after half a minute at most, also where there is no answer. */
const HANGS_AFTER_MS = 60_000;

/** The figures of a worker. It works on one job at a time, and on others before and after. */
export class WorkMetrics extends SendMetrics {
  readonly #running = new Gauge({
    name: 'volley_worker_running',
    help: '1 while the worker works, 0 when it has ended.',
    registers: [this.registry],
  });
  readonly #leaseHeld: Gauge = new Gauge({
    name: 'volley_worker_lease_held',
    help: '1 while the database has confirmed the lease of the worker in time; else 0, and it sends nothing.',
    registers: [this.registry],
    collect: () => this.#leaseHeld.set(this.#lease?.isFresh === true ? 1 : 0),
  });
  readonly #lastBeat: Gauge = new Gauge({
    name: 'volley_worker_last_beat_timestamp_seconds',
    help: 'When the worker last asked for what the database then confirmed: its lease.',
    registers: [this.registry],
    collect: () => {
      const atMs = this.#lease?.lastBeatMs;
      if (atMs !== undefined) this.#lastBeat.set(atMs / 1000);
    },
  });
  readonly #claimed: Gauge = new Gauge({
    name: 'volley_worker_claimed_requests',
    help: 'Requests that the worker has claimed, and that have no outcome yet.',
    labelNames: ['job_name'],
    registers: [this.registry],
    collect: () => {
      for (const job of this.#jobs)
        this.#claimed.set({ job_name: job }, job === this.job ? (this.#held?.count ?? 0) : 0);
    },
  });
  readonly #waits = new Gauge({
    name: 'volley_worker_waits_for_leader',
    help: '1 while there is a run in the database, and no leader that lets the worker work on it; else 0.',
    registers: [this.registry],
  });
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
    const outlets = await openOutlets(flags, metrics.registry, context, isLive);
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
}
