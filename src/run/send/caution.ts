/** The guard counts once so many rows have an answer; before that a few bad rows would stop a good run. */
export const GUARD_FROM_ROWS = 100;
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

  /** The most rows of one part. */
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
