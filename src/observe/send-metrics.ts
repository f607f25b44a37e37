import { Histogram } from 'prom-client';
import type { WorkEvent } from '../cluster/work-on-run.js';
import type { Answered } from '../run/run-event.js';
import type { Answer } from '../service/answer.js';
import type { Lane } from '../throttle/lane.js';
import { Figures } from './figures.js';

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

  /** Nothing is sent any more. */
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
