import type { RowBlock } from '../../domain/bytes/row-block.js';
import type { DraftBlock } from '../../kinds/draft-block.js';

/** Rows on their way from thread to thread. */
export interface AheadBlock {
  readonly rows: RowBlock;
  /** Absent where nobody asked for them, and where they are left to whoever takes the block. */
  readonly drafts: DraftBlock | undefined;
}

/** The memory of a block, to be handed over and not copied. */
export function listBuffers({ rows, drafts }: AheadBlock): ArrayBuffer[] {
  const columns = [rows.cells, rows.ends, rows.lines];
  if (drafts === undefined) return columns.map(({ buffer }) => buffer);
  const { numbers, segments, fragments, facts, countries, ucs2 } = drafts;
  const texts = [fragments.bytes, fragments.ends, facts.bytes, facts.ends];
  return [...columns, numbers, segments, ...texts, countries.of, ucs2.of].map(({ buffer }) => buffer);
}
