import { countOf } from '../domain/count-of.js';
import type { Job } from '../job/job.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { Clock } from '../ports/clock.js';
import type { LogFields } from '../ports/log.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import type { Answer } from '../service/answer.js';
import type { Transport } from '../service/transport.js';
import type { Lane } from '../throttle/lane.js';
import type { AttemptNote, Progress, RunDeps, RunLaneOptions } from './run-deps.js';

/** What happens while a command works on a job, for those who watch: metrics, the hook, a program with a progress of its own. */
export type RunEvent =
  /** First, as soon as the job is known. */
  | { readonly type: 'job'; readonly job: Job }
  /** The command has the job for itself. */
  | { readonly type: 'begin'; readonly jobDirectory: string }
  /** Rows of a step that were read so far. */
  | { readonly type: 'reading'; readonly step: number; readonly rows: number }
  /** A guard refused the plan; nothing of it was sent. */
  | { readonly type: 'guarded'; readonly summary: Summary }
  /** Before anything of a run is sent. */
  | { readonly type: 'run'; readonly directory: string; readonly plan: Plan }
  /** Requests are sent through this lane from now on. */
  | { readonly type: 'lane'; readonly options: RunLaneOptions; readonly lane: Lane }
  | ({ readonly type: 'attempt' } & AttemptNote)
  /** A request of any kind leaves for the service. */
  | { readonly type: 'request'; readonly area: string; readonly answered: Promise<Answered> }
  | { readonly type: 'sent'; readonly progress: Progress }
  /** The database of a job with `cluster` took so long to answer; undefined: it does not answer any more. */
  | { readonly type: 'database'; readonly seconds: number | undefined }
  /** A run has its outputs. */
  | { readonly type: 'report'; readonly summary: Summary }
  /** A run that another process ended while this one stood by. */
  | { readonly type: 'ended-meanwhile'; readonly summary: Summary }
  /** At the end: the rows in doubt of all runs of the job. */
  | { readonly type: 'open-doubt'; readonly openDoubt: OpenDoubt };

export interface Answered {
  readonly answer: Answer;
  readonly seconds: number;
}

/** The transport, with an event for each request. Calls outside of the service, such as to a hook, are none. */
export function watchTransport(transport: Transport, clock: Clock, emit: (event: RunEvent) => unknown): Transport {
  return {
    ...transport,
    send: (call, signal) => {
      const startMs = clock.monotonicMs();
      const answering = transport.send(call, signal);
      if (call.area === undefined) return answering;
      const answered = answering.then((answer) => ({ answer, seconds: (clock.monotonicMs() - startMs) / 1000 }));
      // Who sent it hears of it.
      answered.catch(() => {});
      emit({ type: 'request', area: call.area, answered });
      return answering;
    },
  };
}

/** What can happen to a step while it sends; `event` of the log. */
type StepEvent = 'throttled' | 'outage' | 'breaker-open' | 'in-doubt' | 'withheld' | 'guard';

/** Reports each cause that slows a step down, stops it or puts rows in doubt, once per process. */
export class StepNotices {
  readonly #onNotice: RunDeps['onNotice'];
  readonly #step: { readonly number: number; readonly kind: string };
  readonly #said = new Set<StepEvent>();

  constructor({ onNotice }: Pick<RunDeps, 'onNotice'>, step: { readonly number: number; readonly kind: string }) {
    this.#onNotice = onNotice;
    this.#step = { number: step.number, kind: step.kind };
  }

  /** `why` is the service's answer, such as `HTTP 429`. */
  noteThrottled(why: string, waitMs: number): void {
    const seconds = Math.ceil(waitMs / 1000);
    this.#note('throttled', `the service asks to slow down: ${why}; waits ${seconds} s, then sends slower`, { why });
  }

  noteOutage(why: string): void {
    this.#note('outage', `the service cannot be reached, or refuses requests: ${why}; tries again`, { why });
  }

  noteBreakerOpen(why: string, giveUpAfterSeconds: number): void {
    const what = `too many bad answers in a row, the last is ${why}: tries one request at a time, and stops`;
    this.#note('breaker-open', `${what} if none succeeds within ${giveUpAfterSeconds} s`, { why });
  }

  /** `rows` is undefined for a step without rows. */
  noteInDoubt(rows: number | undefined, { code, reason }: { readonly code: string; readonly reason: string }): void {
    const why = `${code}: ${reason}`;
    const what = rows === undefined ? 'its outcome is' : `${countOf(rows, 'row')} ${rows === 1 ? 'is' : 'are'}`;
    this.#note('in-doubt', `${what} in doubt: ${why}`, { rows, why });
  }

  noteWithheld(rows: number, { code, reason }: { readonly code: string; readonly reason: string }): void {
    const why = `${code}: ${reason}`;
    const what = `${countOf(rows, 'row')} ${rows === 1 ? 'is' : 'are'} not sent`;
    this.#note('withheld', `${what}: ${why}; others like it follow in the account`, { rows, why });
  }

  noteGuard(why: string): void {
    this.#note('guard', `a guard stops the run: ${why}`, { why });
  }

  #note(event: StepEvent, what: string, fields: LogFields): void {
    if (this.#said.has(event)) return;
    this.#said.add(event);
    const { number, kind } = this.#step;
    this.#onNotice(`step ${number} (${kind}): ${what}`, { event, step: number, kind, ...fields });
  }
}
