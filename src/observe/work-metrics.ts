import type { WorkEvent } from '../cluster/work-on-run.js';
import { envOf, type Host, openLog, watchedBy } from '../command/deps.js';
import { SecretKeeper } from '../command/terminal.js';
import { withFields } from '../ports/log.js';
import { SEND_METRICS, WORK_METRICS } from './metric-list.js';
import { createMetricSet } from './metric-set.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';
import { SendMetrics } from './send-metrics.js';

/** The figures of a worker, and where they go. Refuses, with UserError 'bad-flag', a port that cannot be had. */
export async function openWorkMetrics(
  host: Host,
  flags: MetricsFlags,
): Promise<{ readonly host: Host; end(): Promise<void> }> {
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ event: 'metrics' }));
  const metrics = new WorkMetrics();
  const { clock } = envOf(host);
  const { file, server } = await openOutlets(flags, { render: () => metrics.render(), clock, log });
  file?.begin();
  return {
    host: watchedBy(host, (event) => metrics.watch(event)),
    end: async () => {
      metrics.close();
      await file?.finish();
      await server?.close();
    },
  };
}

/** It works on one job at a time, and on others before and after. */
export class WorkMetrics {
  readonly #set = createMetricSet({ ...SEND_METRICS, ...WORK_METRICS });
  readonly #jobs = new Map<string, SendMetrics>();
  #job = '';
  #lease: Extract<WorkEvent, { type: 'lease' }>['lease'] | undefined;
  #held: Extract<WorkEvent, { type: 'held' }>['held'] | undefined;

  constructor() {
    this.#set.metrics.running.set(1);
  }

  watch(event: WorkEvent): void {
    switch (event.type) {
      case 'lease':
        this.#lease = event.lease;
        this.#held = undefined;
        return;
      case 'held':
        this.#held = event.held;
        return;
      case 'step':
        this.#job = event.job;
        this.#sending.begin(event);
        return;
      default:
        this.#sending.watch(event);
    }
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#lease = undefined;
    this.#held = undefined;
    this.#set.metrics.running.set(0);
    for (const sending of this.#jobs.values()) sending.close();
  }

  /** The text for Prometheus. */
  render(): Promise<string> {
    const { leaseHeld, lastBeat, claimed } = this.#set.metrics;
    leaseHeld.set(this.#lease?.isFresh === true ? 1 : 0);
    const atMs = this.#lease?.lastBeatMs;
    if (atMs !== undefined) lastBeat.set(atMs / 1000);
    for (const [job, sending] of this.#jobs) {
      sending.readLanes();
      claimed.set(job === this.#job ? (this.#held?.count ?? 0) : 0, { job_name: job });
    }
    return this.#set.render();
  }

  get #sending(): SendMetrics {
    const known = this.#jobs.get(this.#job);
    const sending = known ?? new SendMetrics(this.#set.metrics, { job_name: this.#job });
    this.#jobs.set(this.#job, sending);
    return sending;
  }
}
