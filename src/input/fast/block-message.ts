import type { ReadBlock } from '../record-reader.js';

/** The memory of a block, to be transferred instead of copied. */
export function listBuffers({ rows, drafts }: ReadBlock): ArrayBuffer[] {
  const columns = [rows.cells, rows.ends, rows.lines, rows.rows];
  if (drafts === undefined) return columns.map(({ buffer }) => buffer);
  const { numbers, segments, extraParts, fragments, facts, countries, ucs2, replaced, hours } = drafts;
  const texts = [fragments.bytes, fragments.ends, facts.bytes, facts.ends];
  const names = [countries.of, ucs2.of, replaced.of, hours.of];
  return [...columns, numbers, segments, extraParts, ...texts, ...names].map(({ buffer }) => buffer);
}

/** The only number in memory that two threads share. */
const TAKEN = 0;

/** How many blocks have been taken: the receiver counts them, the sender reads the count. */
export class BlocksTaken {
  /** Pass it to the other thread. */
  readonly memory: Int32Array<SharedArrayBuffer>;

  constructor(memory = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.memory = memory;
  }

  get count(): number {
    return Atomics.load(this.memory, TAKEN);
  }

  take(): void {
    Atomics.add(this.memory, TAKEN, 1);
    Atomics.notify(this.memory, TAKEN);
  }

  /** Stops this thread until more than so many have been taken. */
  waitForMoreThan(count: number): void {
    for (let seen = this.count; seen <= count; seen = this.count) Atomics.wait(this.memory, TAKEN, seen);
  }
}
