import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Answered } from '../run/run-event.js';
import type { Answer } from '../service/answer.js';
import type { Lane } from '../throttle/lane.js';

/**
 * The figures of what is sent, by `run`, `apply` or a worker. jobs/reference/metrics.md lists every metric that there is, and a test
 * compares. Names follow Prometheus: base units, `_total` for what only grows. Labels take few values each: none names a run, a row, a
 * person or an address. The job is `job_name`, because Prometheus has a label `job` of its own.
 */
export class SendMetrics {
  readonly registry = new Registry();
  /** What is sent now is of this job; undefined until it is known. A worker has others before and after. */
  job: string | undefined;
  readonly #requests = new Counter({
    name: 'volley_requests_total',
    help: 'Requests to the service, by HTTP status; no_answer: sent, and no whole answer came; not_sent: no connection.',
    labelNames: ['job_name', 'area', 'status'],
    registers: [this.registry],
  });
  readonly #requestDuration = new Histogram({
    name: 'volley_request_duration_seconds',
    help: 'Time from a request to the end of its answer, or to its failure.',
    labelNames: ['job_name', 'area'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.registry],
  });
  readonly #inFlight = new Gauge({
    name: 'volley_requests_in_flight',
    help: 'Requests that wait for their answer.',
    labelNames: ['job_name', 'area'],
    registers: [this.registry],
  });
  readonly #retries = new Counter({
    name: 'volley_retries_total',
    help: 'Attempts after which the request is to be sent again: it was not sent, not processed, or may be repeated.',
    labelNames: ['job_name', 'step', 'kind'],
    registers: [this.registry],
  });
  readonly #breakerOpen = new Gauge({
    name: 'volley_breaker_open',
    help: '1 after too many bad answers in a row: one request at a time is tried. Otherwise 0.',
    labelNames: ['job_name', 'step', 'kind'],
    registers: [this.registry],
  });
  readonly #laneShare: Gauge = new Gauge({
    name: 'volley_lane_share_ratio',
    help: 'Share of its limits that the lane uses: 1, less after the service asked to slow down, or where the database of a cluster is far.',
    labelNames: ['job_name', 'area'],
    registers: [this.registry],
    collect: () => {
      for (const { labels, lane } of this.#lanes.values()) this.#laneShare.set(labels, lane.share ?? 1);
    },
  });
  readonly #requestLimit = new Gauge({
    name: 'volley_lane_limit_requests_per_second',
    help: 'Limit of the lane in requests a second.',
    labelNames: ['job_name', 'area'],
    registers: [this.registry],
  });
  readonly #messageLimit = new Gauge({
    name: 'volley_lane_limit_messages_per_second',
    help: 'Limit of the lane in messages a second, where it has one.',
    labelNames: ['job_name', 'area'],
    registers: [this.registry],
  });
  readonly #databaseLost = new Gauge({
    name: 'volley_database_lost',
    help: '1 while the database of a cluster does not answer, and nothing is sent; 0 while it does, or where there is none.',
    registers: [this.registry],
  });
  readonly #databaseSeconds = new Gauge({
    name: 'volley_database_answer_seconds',
    help: 'Time that the database of a cluster took for its last answer to a short call.',
    registers: [this.registry],
  });
  readonly #steps: object[] = [];
  readonly #lanes = new Map<string, { readonly labels: object; readonly lane: Lane }>();

  /** A step begins: its figures are there before anything happens. */
  begin(step: number, kind: string): void {
    const labels = { ...this.shared, step, kind };
    this.#steps.push(labels);
    this.#retries.inc(labels, 0);
    this.#breakerOpen.set(labels, 0);
  }

  watch(event: WorkEvent): void | Promise<void> {
    if (event.type === 'lane') this.#noteLane(event);
    if (event.type === 'attempt') {
      const labels = { ...this.shared, step: event.step, kind: event.kind };
      if (event.isAgain) this.#retries.inc(labels);
      this.#breakerOpen.set(labels, event.isBreakerOpen ? 1 : 0);
    }
    if (event.type === 'database') {
      this.#databaseLost.set(event.seconds === undefined ? 1 : 0);
      if (event.seconds !== undefined) this.#databaseSeconds.set(event.seconds);
    }
    if (event.type === 'request') void this.#count(event.area, event.answered).catch(() => {});
  }

  /** Nothing is sent any more. */
  close(): void {
    for (const labels of this.#steps) this.#breakerOpen.set(labels, 0);
  }

  protected get shared(): { readonly job_name: string } {
    return { job_name: this.job ?? '' };
  }

  #noteLane({ options: { area, limits }, lane }: Extract<WorkEvent, { type: 'lane' }>): void {
    const labels = { ...this.shared, area };
    this.#lanes.set(`${area} ${this.job}`, { labels, lane });
    this.#requestLimit.set(labels, limits.requestsPerSecond);
    if (limits.messagesPerSecond !== undefined) this.#messageLimit.set(labels, limits.messagesPerSecond);
  }

  async #count(area: string, answered: Promise<Answered>): Promise<void> {
    const labels = { ...this.shared, area };
    this.#inFlight.inc(labels);
    const { answer, seconds } = await answered.finally(() => this.#inFlight.dec(labels));
    this.#requestDuration.observe(labels, seconds);
    this.#requests.inc({ ...labels, status: statusOf(answer) });
  }
}

function statusOf(answer: Answer): string {
  if (answer.kind === 'response') return String(answer.status);
  return answer.mayHaveBeenProcessed ? 'no_answer' : 'not_sent';
}

/** A counter whose figure is kept elsewhere. */
export function setCounter(counter: Counter, labels: Readonly<Record<string, string | number>>, value: number): void {
  counter.remove(labels);
  counter.inc(labels, value);
}
