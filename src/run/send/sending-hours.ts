import { type Opening, OpeningHours, SEARCHED_MS, type Window, zonesOf } from '../../hours/window.js';
import type { Clock } from '../../ports/clock.js';

/** When the requests of a step with a window may leave: with room for the answer, as the service may send until it comes. */
export class SendingHours {
  readonly outside: Window['outside'];
  readonly #window: Window;
  readonly #hours: OpeningHours;
  readonly #clock: Clock;
  readonly #roomMs: number;

  constructor(window: Window, clock: Clock, { answerSeconds }: { answerSeconds: number }) {
    this.outside = window.outside;
    this.#window = window;
    this.#hours = new OpeningHours(window);
    this.#clock = clock;
    this.#roomMs = answerSeconds * 1000;
  }

  /** A request that names no hours may never leave. */
  isOpenFor(group: string | undefined): boolean {
    const zones = group === undefined ? [] : zonesOf(this.#window, group);
    return this.#hours.isOpen(zones, this.#clock.now(), this.#roomMs);
  }

  /** Whether the window opens before a time; where no opening was found, it does not within the time that is looked ahead. */
  opensBefore(opening: Opening | undefined, atMs: number): boolean {
    return (opening?.atMs ?? this.#clock.now() + SEARCHED_MS) < atMs;
  }

  /** The first of these groups that opens again; undefined where none does in 14 days. */
  findNext(groups: Iterable<string>): Opening | undefined {
    const nowMs = this.#clock.now();
    let next: Opening | undefined;
    for (const group of groups) {
      const zones = zonesOf(this.#window, group);
      const atMs = this.#hours.findNextOpening(zones, nowMs, this.#roomMs);
      if (atMs !== undefined && (next === undefined || atMs < next.atMs)) next = { group, atMs, zone: zones[0] ?? '' };
    }
    return next;
  }
}
