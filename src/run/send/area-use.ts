import type { Area } from '../../domain/areas.js';
import type { RequestSize, RunState } from '../../journal/replay.js';
import type { Clock } from '../../ports/clock.js';
import type { RunLaneOptions } from '../run-deps.js';

/** What other runs of the job sent last, as only its time is known: it took a second at most, or was one message, of ten parts at most. */
const LEAST_SIZE: RequestSize = { messages: 1, segments: 10 };

/**
 * When a run last sent to each area, and how much: a lane waits out the span of its limit after it, since steps share the area's limits. Times
 * are monotonic: the wall clock may be set meanwhile.
 */
export class AreaUse {
  readonly #clock: Clock;
  readonly #state: RunState;
  readonly #beforeMs: number | undefined;
  readonly #lastSentMs = new Map<Area, number>();

  /**
   * `state`: as processes before this one left it, before this one adds to it. `othersSentMsAgo`: by the job's lock, which all had that sent;
   * where its files were deleted, and a run was begun, nothing says how long ago.
   */
  constructor(clock: Clock, { state, othersSentMsAgo }: { state: RunState; othersSentMsAgo?: number | undefined }) {
    this.#clock = clock;
    this.#state = state;
    const agoMs = othersSentMsAgo ?? (state.firstOpen === undefined ? undefined : 0);
    this.#beforeMs = agoMs === undefined ? undefined : clock.monotonicMs() - agoMs;
  }

  /** For the next lane: at least how long ago, undefined when nothing was ever sent; and what the last request took of the limits, at most. */
  lastOf(area: Area): Pick<RunLaneOptions, 'lastSentMsAgo' | 'lastSize'> {
    const atMs = this.#lastSentMs.get(area) ?? this.#beforeMs;
    const { messages, segments } = this.#state.lastSize ?? LEAST_SIZE;
    return {
      lastSentMsAgo: atMs === undefined ? undefined : this.#clock.monotonicMs() - atMs,
      lastSize: {
        messages: Math.max(messages, LEAST_SIZE.messages),
        segments: Math.max(segments, LEAST_SIZE.segments),
      },
    };
  }

  note(area: Area): void {
    this.#lastSentMs.set(area, this.#clock.monotonicMs());
  }
}
