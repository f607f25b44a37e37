import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Answered } from '../run/run-events.js';
import type { Answer } from '../service/answer.js';
import type { Lane } from '../throttle/lane.js';

/**
 * Every metric that there is, and what it says; jobs/reference/metrics.md lists them, and a test compares. Names follow Prometheus: base
 * units, `_total` for what only grows. Labels take few values each: none names a run, a row, a person or an address. The job is
 * `job_name`, because Prometheus has a label `job` of its own.
 */
const HELP = {
  // Requests and lanes.
  volley_requests_total:
    'Requests to the service, by HTTP status; no_answer: sent, and no whole answer came; not_sent: no connection.',
  volley_request_duration_seconds: 'Time from a request to the end of its answer, or to its failure.',
  volley_breaker_open: '1 after too many bad answers in a row: one request at a time is tried. Otherwise 0.',
  volley_lane_share_ratio:
    'Share of its limits that the lane uses: 1, less after the service asked to slow down, or where the database of a cluster is far.',
  volley_lane_limit_requests_per_second: 'Limit of the lane in requests a second.',
  volley_lane_limit_messages_per_second: 'Limit of the lane in messages a second, where it has one.',
  volley_database_lost:
    '1 while the database of a cluster does not answer, and nothing is sent; 0 while it does, or where there is none.',
  volley_database_answer_seconds: 'Time that the database of a cluster took for its last answer to a short call.',
  // Runs of a job.
  volley_rows_total:
    'Rows of the runs that this command worked on, by outcome: accepted, rejected, skipped or in_doubt. Those of earlier processes of a run count.',
  volley_unprocessed_rows: 'Rows that are planned and have no outcome yet.',
  volley_in_doubt_rows: 'Rows in doubt in all runs of the job, this one and earlier ones.',
  volley_disk_available_bytes: 'What is free on the disk that holds the runs of the job.',
  volley_running: '1 while the command works on the job, 0 when it has ended.',
  volley_last_exit_code: 'Exit code of the last command that ended.',
  volley_last_success_timestamp_seconds: 'When a command last ended with exit code 0; 0 if none ever did.',
  // A worker of a cluster.
  volley_worker_running: '1 while the worker works, 0 when it has ended.',
  volley_worker_lease_held:
    '1 while the database has confirmed the lease of the worker in time; else 0, and it sends nothing.',
  volley_worker_waits_for_leader:
    '1 while there is a run in the database, and no leader that lets the worker work on it; else 0.',
  // The listener.
  volley_events_total:
    'Deliveries of events, by outcome: written, duplicate, bad (no JSON object), refused (wrong secret) or busy; dropped: connections closed at once.',
  volley_listener_accepting: '1 while events are accepted, 0 once the file cannot be written.',
  volley_listener_disk_available_bytes: 'What is free on the disk that holds the events of the listener.',
} as const;

type Name = keyof typeof HELP;

/** Metrics, as they are served: some of them are found out only then, by `collect`. */
export abstract class Figures extends Registry {
  override async metrics(): Promise<string> {
    await this.collect();
    return super.metrics();
  }

  protected abstract collect(): void | Promise<void>;

  protected counter(name: Name, ...labelNames: readonly string[]): Counter {
    return new Counter(this.describe(name, labelNames));
  }

  protected gauge(name: Name, ...labelNames: readonly string[]): Gauge {
    return new Gauge(this.describe(name, labelNames));
  }

  protected describe(name: Name, labelNames: readonly string[]) {
    return { name, help: HELP[name], labelNames, registers: [this as Registry] };
  }
}

/** A counter whose figure is kept elsewhere. */
export function setCounter(counter: Counter, labels: Readonly<Record<string, string | number>>, value: number): void {
  counter.remove(labels);
  counter.inc(labels, value);
}

/** The figures of what is sent, by `run`, `apply` or a worker. */
export class SendMetrics extends Figures {
  /** What is sent now is of this job; undefined until it is known. A worker has others before and after. */
  job: string | undefined;
  readonly #requests = this.counter('volley_requests_total', 'job_name', 'area', 'status');
  readonly #requestDuration = new Histogram({
    ...this.describe('volley_request_duration_seconds', ['job_name', 'area']),
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  readonly #breakerOpen = this.gauge('volley_breaker_open', 'job_name', 'step', 'kind');
  readonly #laneShare = this.gauge('volley_lane_share_ratio', 'job_name', 'area');
  readonly #requestLimit = this.gauge('volley_lane_limit_requests_per_second', 'job_name', 'area');
  readonly #messageLimit = this.gauge('volley_lane_limit_messages_per_second', 'job_name', 'area');
  readonly #databaseLost = this.gauge('volley_database_lost');
  readonly #databaseSeconds = this.gauge('volley_database_answer_seconds');
  readonly #steps: object[] = [];
  readonly #lanes = new Map<string, { readonly labels: object; readonly lane: Lane }>();

  /** A step begins: its figures are there before anything happens. */
  begin(step: number, kind: string): void {
    const labels = { ...this.shared, step, kind };
    this.#steps.push(labels);
    this.#breakerOpen.set(labels, 0);
  }

  watch(event: WorkEvent): void | Promise<void> {
    if (event.type === 'lane') this.#noteLane(event);
    if (event.type === 'attempt') {
      this.#breakerOpen.set({ ...this.shared, step: event.step, kind: event.kind }, event.isBreakerOpen ? 1 : 0);
    }
    if (event.type === 'database') {
      this.#databaseLost.set(event.seconds === undefined ? 1 : 0);
      if (event.seconds !== undefined) this.#databaseSeconds.set(event.seconds);
    }
    if (event.type === 'request') void this.#count(event.area, event.answered).catch(() => {});
  }

  /** Says that nothing is sent any more. */
  close(): void {
    for (const labels of this.#steps) this.#breakerOpen.set(labels, 0);
  }

  protected get shared(): { readonly job_name: string } {
    return { job_name: this.job ?? '' };
  }

  protected collect(): void | Promise<void> {
    for (const { labels, lane } of this.#lanes.values()) this.#laneShare.set(labels, lane.share ?? 1);
  }

  #noteLane({ options: { area, limits }, lane }: Extract<WorkEvent, { type: 'lane' }>): void {
    const labels = { ...this.shared, area };
    this.#lanes.set(`${area} ${this.job}`, { labels, lane });
    this.#requestLimit.set(labels, limits.requestsPerSecond);
    if (limits.messagesPerSecond !== undefined) this.#messageLimit.set(labels, limits.messagesPerSecond);
  }

  async #count(area: string, answered: Promise<Answered>): Promise<void> {
    const labels = { ...this.shared, area };
    const { answer, seconds } = await answered;
    this.#requestDuration.observe(labels, seconds);
    this.#requests.inc({ ...labels, status: statusOf(answer) });
  }
}

function statusOf(answer: Answer): string {
  if (answer.kind === 'response') return String(answer.status);
  return answer.mayHaveBeenProcessed ? 'no_answer' : 'not_sent';
}
