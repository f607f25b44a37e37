import type { RowBlock } from '../../domain/bytes/row-block.js';
import type { DraftBlock } from './draft-block.js';

/** Rows on their way from thread to thread. */
export interface AheadBlock {
  readonly rows: RowBlock;
  /** Absent if not requested, or if the receiver of the block makes them. */
  readonly drafts: DraftBlock | undefined;
}

/** The memory of a block, to be transferred instead of copied. */
export function listBuffers({ rows, drafts }: AheadBlock): ArrayBuffer[] {
  const columns = [rows.cells, rows.ends, rows.lines];
  if (drafts === undefined) return columns.map(({ buffer }) => buffer);
  const { numbers, segments, extraParts, fragments, facts, countries, ucs2, omitted, replaced } = drafts;
  const texts = [fragments.bytes, fragments.ends, facts.bytes, facts.ends];
  const names = [countries, ucs2, omitted, replaced].flatMap((each) => (each === undefined ? [] : [each.of]));
  const parts = extraParts === undefined ? [segments] : [segments, extraParts];
  return [...columns, numbers, ...parts, ...texts, ...names].map(({ buffer }) => buffer);
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
