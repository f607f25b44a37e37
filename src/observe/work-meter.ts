import type { WorkObserver } from '../cluster/work-on-run.js';
import type { AttemptNote, RunLaneOptions } from '../run/run-deps.js';
import type { Answer } from '../service/answer.js';
import type { Lane } from '../throttle/lane.js';
import { SEND_METRICS, WORK_METRICS } from './metric-list.js';
import { createMetricSet } from './metric-set.js';
import { SendMeter } from './send-meter.js';

/** The figures of one worker. It works on one job at a time, and on others before and after. */
export class WorkMeter implements WorkObserver {
  readonly #set = createMetricSet({ ...SEND_METRICS, ...WORK_METRICS });
  readonly #jobs = new Map<string, SendMeter>();
  #job = '';
  #lease: Parameters<WorkObserver['onLease']>[0] | undefined;
  #held: Parameters<WorkObserver['onHeld']>[0] | undefined;

  constructor() {
    this.#set.metrics.running.set(1);
  }

  readonly onLease: WorkObserver['onLease'] = (lease) => {
    this.#lease = lease;
    this.#held = undefined;
  };

  readonly onHeld: WorkObserver['onHeld'] = (held) => {
    this.#held = held;
  };

  /** What follows is of this step of a job. */
  noteStep(job: string, step: Pick<AttemptNote, 'step' | 'kind'>): void {
    this.#job = job;
    this.#sending.noteStep(step);
  }

  readonly onLane = (options: RunLaneOptions, lane: Lane): void => this.#sending.noteLane(options, lane);

  readonly onAttempt = (attempt: AttemptNote): void => this.#sending.noteAttempt(attempt);

  readonly noteRequest = (area: string): ((answer: Answer, seconds: number) => void) => this.#sending.noteRequest(area);

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

  get #sending(): SendMeter {
    const known = this.#jobs.get(this.#job);
    const sending = known ?? new SendMeter(this.#set.metrics, { job_name: this.#job });
    this.#jobs.set(this.#job, sending);
    return sending;
  }
}
