import { countOf } from '../../domain/count-of.js';
import type { RowCounts } from '../../journal/entry-format.js';
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

/** The guard counts once so many rows have an answer; before that a few bad rows would stop a good run. */
const GUARD_FROM_ROWS = 100;

/** Says that too many answered rows of a step were refused: where most are, the job is wrong, not the rows. */
export function findFailing(
  { accepted, rejected }: Pick<RowCounts, 'accepted' | 'rejected'>,
  maxFailedPercent: number,
) {
  const answered = accepted + rejected;
  if (answered < GUARD_FROM_ROWS || (rejected * 100) / answered <= maxFailedPercent) return undefined;
  return `the service refused ${rejected} of ${countOf(answered, 'row')}, more than maxFailedPercent ${maxFailedPercent}`;
}

/** Most rows that a lost probe leaves in doubt. */
const PROBE_ROWS = 10;

/** The permission under which a part was released; a later doubt revokes it. */
export type Clearance = number;

/**
 * How much of a step may be in flight, so that an outage costs few rows, and a wrong job shows early. Pure. It applies
 * to requests that must not be repeated; others are released as the lane has room.
 *
 *   probing: one part at a time, of ten rows at most
 *     └a good answer→ trying: a hundred rows under way at most
 *                       └a hundred rows answered→ free
 *   any of them ─an answer that leaves its request in doubt→ probing; a good answer then leads back to where it was
 *
 * A process begins by probing: it does not know why the one before it ended. A part that was released before the last
 * doubt, and has not left, is held back; the answer of one that has left says nothing new about the service.
 */
export class Caution {
  readonly #isNeeded: boolean;
  #isProbing: boolean;
  #answeredRows = 0;
  #clearance: Clearance = 0;

  constructor({ isRepeatable }: { isRepeatable: boolean }) {
    this.#isNeeded = !isRepeatable;
    this.#isProbing = this.#isNeeded;
  }

  get isProbing(): boolean {
    return this.#isProbing;
  }

  get maxRows(): number {
    if (this.#isProbing) return PROBE_ROWS;
    return this.#isFree ? Number.POSITIVE_INFINITY : GUARD_FROM_ROWS;
  }

  /** Whether a part may be sent beside those in flight. */
  mayBegin(rows: number, underWay: { readonly parts: number; readonly rows: number }): boolean {
    if (underWay.parts === 0) return true;
    if (this.#isProbing) return false;
    return this.#isFree || underWay.rows + rows <= GUARD_FROM_ROWS;
  }

  clear(): Clearance {
    return this.#clearance;
  }

  holds(clearance: Clearance): boolean {
    return clearance === this.#clearance;
  }

  noteAnswered(rows: number): void {
    this.#answeredRows += rows;
  }

  /** The service answered, well or with a refusal. */
  noteGood(clearance: Clearance): void {
    if (this.holds(clearance)) this.#isProbing = false;
  }

  /** False if the part had left before an earlier doubt was known: both are one event. */
  noteDoubt(clearance: Clearance): boolean {
    if (!this.#isNeeded) return true;
    if (!this.holds(clearance)) return false;
    this.#clearance += 1;
    this.#isProbing = true;
    return true;
  }

  get #isFree(): boolean {
    return !this.#isNeeded || this.#answeredRows >= GUARD_FROM_ROWS;
  }
}
