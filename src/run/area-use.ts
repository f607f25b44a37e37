import type { Area } from '../domain.js';

/** When a run last sent to each area: a lane waits out the second after it, since steps share the area's limits. */
export class AreaUse {
  readonly #before: number | undefined;
  readonly #lastSentAt = new Map<Area, number>();

  /** `before`: wall-clock time of the last intent of a process before this one; which area it was for is not told. */
  constructor(before: number | undefined) {
    this.#before = before;
  }

  /** How long ago, at `now`; undefined when nothing was ever sent. */
  lastSentMsAgo(area: Area, now: number): number | undefined {
    const at = this.#lastSentAt.get(area) ?? this.#before;
    return at === undefined ? undefined : Math.max(0, now - at);
  }

  note(area: Area, now: number): void {
    this.#lastSentAt.set(area, now);
  }
}
