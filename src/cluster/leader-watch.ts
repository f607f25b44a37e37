import type { OpenRequest } from '../journal/replay.js';
import type { Clock } from '../ports/clock.js';
import { StepNotices } from '../run/run-events.js';
import type { PartToSend, RequestReader } from '../run/send/request-reader.js';
import type { StepContext } from '../run/send/send-context.js';
import { isUnknown } from '../run/send/send-part.js';
import { judgeWithheld, withhold } from '../run/send/withhold.js';
import { UNREAD } from '../service/decide-answer.js';
import type { EndedAttempt, RunNews } from './store.js';

const MAX_STEP_MS = 5_000;
/** A limit may be so slow that nothing is sent for longer than a run is to wait. */
const SLOW_TURNS = 5;

/**
 * Judges whether the workers of a run reach the service, since none of them may live for long enough to give up. It goes by the time
 * without a good answer alone: many requests that end in doubt may be those of workers that were lost together. Where nothing at all is
 * sent for as long, there is no worker, or all of them have a reason that only they know.
 */
export class ServiceJudge {
  /** What was wrong with the last answer; undefined if it was good. */
  #why: string | undefined;
  readonly #clock: Clock;
  readonly #idleForMs: number;
  #askedAtMs: number;
  /** Time since the last good answer; what passed while the database was away, or this process stopped, does not count. */
  #idleMs = 0;

  /** `giveUpAfterMs`: a worker that alone cannot reach the service gives up before, and others send its requests. */
  constructor(deps: { readonly clock: Clock; readonly giveUpAfterMs: number; readonly requestsPerSecond: number }) {
    this.#clock = deps.clock;
    this.#idleForMs = Math.max(deps.giveUpAfterMs, (SLOW_TURNS * 1000) / deps.requestsPerSecond);
    this.#askedAtMs = deps.clock.monotonicMs();
  }

  note({ result }: EndedAttempt): void {
    const isBad = result.kind === 'again' ? result.isDeferred !== true : isUnknown(result);
    this.#why = result.kind === 'again' ? result.why : UNREAD.why;
    if (isBad) return;
    this.#why = undefined;
    this.#idleMs = 0;
  }

  /** Why no worker reaches the service; undefined while some may. `isWaiting`: there is something for workers to send. */
  explainAbsence({ workers }: RunNews, isWaiting: boolean): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#idleMs = isWaiting ? this.#idleMs + Math.min(nowMs - this.#askedAtMs, MAX_STEP_MS) : 0;
    this.#askedAtMs = nowMs;
    if (this.#idleMs < this.#idleForMs) return undefined;
    if (this.#why !== undefined) return `no worker reaches the service: ${this.#why}`;
    const who = workers === 0 ? 'no worker is there: start `volley work`' : `workers: ${workers}, whose logs say why`;
    return `nothing was sent for ${Math.round(this.#idleMs / 1000)} s; ${who}`;
  }
}

/**
 * The rows of a led step that may not be sent any more: what workers get was looked at before, and is taken back from them when
 * more are withheld. Where that cannot be known the run stops, and `failure` says why.
 */
export class WithheldParts {
  failure: unknown;
  readonly #context: StepContext;
  readonly #reader: RequestReader;
  readonly #notices: StepNotices;
  /** The version of what withholds when what is handed over was last looked at. */
  #version: number | undefined;

  constructor(context: StepContext, reader: RequestReader) {
    this.#context = context;
    this.#reader = reader;
    this.#notices = new StepNotices(context.deps, context.planned);
  }

  /** Withholds rows of a part in the journal, and gives what is left of it; undefined where all of it may be handed over. */
  async withhold(part: PartToSend): Promise<readonly OpenRequest[] | undefined> {
    const withheld = await withhold(part, this.#context).catch((error: unknown) => this.#fail(error));
    if (withheld === undefined) return undefined;
    for (const { verdict, count } of withheld.verdicts) this.#notices.noteWithheld(count, verdict);
    return withheld.left.map(({ open }) => open);
  }

  /** Finds the parts that have rows which are withheld, if more is withheld than at the last call. */
  async findAmong(handed: Iterable<OpenRequest>): Promise<readonly OpenRequest[]> {
    const { deps, kind } = this.#context;
    const { withholding } = deps;
    if (withholding === undefined || kind.recipients === undefined) return [];
    await withholding.refresh().catch((error: unknown) => this.#fail(error));
    if (this.failure !== undefined || withholding.version === this.#version) return [];
    this.#version = withholding.version;
    const found: OpenRequest[] = [];
    for (const open of handed) {
      const part = await this.#reader.readAgain({ ...open, isInFlight: false });
      if (judgeWithheld(part, this.#context) !== undefined) found.push(open);
    }
    return found;
  }

  /** What workers have is taken back before the step ends. */
  #fail(error: unknown): undefined {
    this.failure ??= error;
    this.#context.stop.request('interrupted', 'the run failed');
  }
}
