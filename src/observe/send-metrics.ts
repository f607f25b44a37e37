import type { WorkEvent } from '../cluster/work-on-run.js';
import type { RunLaneOptions } from '../run/run-deps.js';
import type { Answered } from '../run/run-event.js';
import type { Answer } from '../service/answer.js';
import type { Lane } from '../throttle/lane.js';
import type { SEND_METRICS } from './metric-list.js';
import type { Labels, MetricSet } from './metric-set.js';

interface Step {
  readonly step: number;
  readonly kind: string;
}

/** The figures of what is sent for one job. */
export class SendMetrics {
  readonly #metrics: MetricSet<typeof SEND_METRICS>['metrics'];
  readonly #labels: Labels;
  readonly #steps = new Map<number, Step>();
  /** By area. */
  readonly #lanes = new Map<string, { readonly options: RunLaneOptions; readonly lane: Lane }>();

  /** `labels`: beside those that the set gives to all of its metrics. */
  constructor(metrics: MetricSet<typeof SEND_METRICS>['metrics'], labels: Labels = {}) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  /** A step begins: its figures are there before anything happens. */
  begin({ step, kind }: Step): void {
    this.#steps.set(step, { step, kind });
    this.#metrics.retries.add(0, { ...this.#labels, step, kind });
    this.#metrics.breakerOpen.set(0, { ...this.#labels, step, kind });
  }

  watch(event: WorkEvent): void {
    const { retries, breakerOpen } = this.#metrics;
    if (event.type === 'lane') this.#lanes.set(event.options.area, event);
    if (event.type === 'attempt') {
      const labels = { ...this.#labels, step: event.step, kind: event.kind };
      if (event.isAgain) retries.add(1, labels);
      breakerOpen.set(event.isBreakerOpen ? 1 : 0, labels);
    }
    if (event.type === 'request') void this.#count(event.area, event.answered).catch(() => {});
  }

  async #count(area: string, answered: Promise<Answered>): Promise<void> {
    const { inFlight, requestDuration, requests } = this.#metrics;
    const labels = { ...this.#labels, area };
    inFlight.add(1, labels);
    const { answer, seconds } = await answered.finally(() => inFlight.add(-1, labels));
    requestDuration.add(seconds, labels);
    requests.add(1, { ...labels, status: statusOf(answer) });
  }

  /** What the lanes do just now. */
  readLanes(): void {
    const { laneShare, requestLimit, messageLimit } = this.#metrics;
    for (const [area, { options, lane }] of this.#lanes) {
      const { requestsPerSecond, messagesPerSecond } = options.limits;
      const labels = { ...this.#labels, area };
      laneShare.set(lane.state?.share ?? 1, labels);
      requestLimit.set(requestsPerSecond, labels);
      if (messagesPerSecond !== undefined) messageLimit.set(messagesPerSecond, labels);
    }
  }

  /** Nothing is sent any more. */
  close(): void {
    for (const step of this.#steps.values()) this.#metrics.breakerOpen.set(0, { ...this.#labels, ...step });
  }
}

function statusOf(answer: Answer): string {
  if (answer.kind === 'response') return String(answer.status);
  return answer.mayHaveBeenProcessed ? 'no_answer' : 'not_sent';
}
