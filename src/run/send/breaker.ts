import type { Clock } from '../../ports/clock.js';

/**
 * Judges whether the service is available. Pure but for the clock's readings.
 *
 *   closed ─5 bad answers in a row→ open ─a good one→ closed
 *
 * Every bad answer asks for a pause of the lane, longer each time. While open only one request is under way at a time: a
 * probe. It gives up when no good answer came for `giveUpAfterMs`, or when the probes themselves end in doubt, since each
 * of them puts a whole request in doubt.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #giveUpAfterMs: number;
  readonly #random: () => number;
  #badInRow = 0;
  #doubtsInRow = 0;
  #firstBadAtMs = 0;
  #nextAtMs = 0;

  constructor(options: { clock: Clock; giveUpAfterMs: number; random: () => number }) {
    this.#clock = options.clock;
    this.#giveUpAfterMs = options.giveUpAfterMs;
    this.#random = options.random;
  }

  get isOpen(): boolean {
    return this.#badInRow >= BAD_TO_OPEN;
  }

  /** How long it is until the next probe; 0 while it is closed. */
  get pauseMs(): number {
    return this.isOpen ? Math.max(0, this.#nextAtMs - this.#clock.monotonicMs()) : 0;
  }

  get shouldGiveUp(): boolean {
    if (!this.isOpen) return false;
    if (this.#doubtsInRow >= BAD_TO_OPEN + PROBES_IN_DOUBT) return true;
    return this.#clock.monotonicMs() - this.#firstBadAtMs >= this.#giveUpAfterMs;
  }

  noteGood(): void {
    this.#badInRow = 0;
    this.#doubtsInRow = 0;
  }

  /** Returns how long the lane should pause: exponential with jitter, at most 30 s. */
  noteBad(isInDoubt: boolean): number {
    if (this.#badInRow === 0) this.#firstBadAtMs = this.#clock.monotonicMs();
    this.#badInRow += 1;
    this.#doubtsInRow = isInDoubt ? this.#doubtsInRow + 1 : 0;
    const fullMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#badInRow - 1));
    const pauseMs = fullMs * (0.5 + this.#random() / 2);
    this.#nextAtMs = this.#clock.monotonicMs() + pauseMs;
    return pauseMs;
  }
}

const BAD_TO_OPEN = 5;
const PROBES_IN_DOUBT = 3;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;
