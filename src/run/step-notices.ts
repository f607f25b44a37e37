import { countOf } from '../domain/count-of.js';
import type { LogFields } from '../ports/log.js';
import type { RunDeps } from './run-deps.js';

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
