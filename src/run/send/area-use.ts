import type { Area } from '../../domain/areas.js';
import type { RunState } from '../../journal/replay.js';
import type { Clock } from '../../ports/clock.js';

/**
 * When a run last sent to each area: a lane waits out the span of its limit after it, since steps share the area's limits. Times
 * are monotonic: the wall clock may be set meanwhile.
 */
export class AreaUse {
  readonly #clock: Clock;
  readonly #beforeMs: number | undefined;
  readonly #lastSentMs = new Map<Area, number>();

  /**
   * `state`: as processes before this one left it, before this one adds to it; it does not say which area they last
   * sent to.
   */
  constructor(
    clock: Clock,
    { state, host, othersSentMsAgo }: { state: RunState; host: string; othersSentMsAgo?: number | undefined },
  ) {
    this.#clock = clock;
    const agoMs = Math.min(
      sentMsAgo(state, clock.now(), host) ?? Number.POSITIVE_INFINITY,
      othersSentMsAgo ?? Number.POSITIVE_INFINITY,
    );
    this.#beforeMs = Number.isFinite(agoMs) ? clock.monotonicMs() - agoMs : undefined;
  }

  /** At least how long ago; undefined when nothing was ever sent. */
  lastSentMsAgo(area: Area): number | undefined {
    const atMs = this.#lastSentMs.get(area) ?? this.#beforeMs;
    return atMs === undefined ? undefined : this.#clock.monotonicMs() - atMs;
  }

  note(area: Area): void {
    this.#lastSentMs.set(area, this.#clock.monotonicMs());
  }
}

/**
 * Zero if unknown: a request without outcome may have left in the last moment of its process, and another host's clock
 * may differ.
 */
function sentMsAgo({ lastSentAt, lastHost, isInFlight }: RunState, now: number, host: string): number | undefined {
  if (lastSentAt === undefined) return undefined;
  return isInFlight || lastHost !== host ? 0 : Math.max(0, now - lastSentAt);
}
