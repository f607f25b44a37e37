import type { AttemptNote, RunLaneOptions } from '../run/run-deps.js';
import type { Answer } from '../service/answer.js';
import type { Lane } from '../throttle/lane.js';
import type { SEND_METRICS } from './metric-list.js';
import type { Labels, MetricSet } from './metric-set.js';

type Step = Pick<AttemptNote, 'step' | 'kind'>;

/** The figures of what is sent for one job. */
export class SendMeter {
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
  noteStep({ step, kind }: Step): void {
    this.#steps.set(step, { step, kind });
    this.#metrics.retries.add(0, { ...this.#labels, step, kind });
    this.#metrics.breakerOpen.set(0, { ...this.#labels, step, kind });
  }

  readonly noteAttempt = ({ step, kind, isAgain, isBreakerOpen }: AttemptNote): void => {
    const labels = { ...this.#labels, step, kind };
    if (isAgain) this.#metrics.retries.add(1, labels);
    this.#metrics.breakerOpen.set(isBreakerOpen ? 1 : 0, labels);
  };

  readonly noteLane = (options: RunLaneOptions, lane: Lane): void => {
    this.#lanes.set(options.area, { options, lane });
  };

  /** A request leaves. Call what is returned with its answer. */
  readonly noteRequest = (area: string): ((answer: Answer, seconds: number) => void) => {
    const { requests, requestDuration, inFlight } = this.#metrics;
    const labels = { ...this.#labels, area };
    inFlight.add(1, labels);
    return (answer, seconds) => {
      inFlight.add(-1, labels);
      requestDuration.add(seconds, labels);
      requests.add(1, { ...labels, status: statusOf(answer) });
    };
  };

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
