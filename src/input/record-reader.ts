import { listRecords, type RowBlock } from '../domain/bytes/row-block.js';
import type { SourceRecord } from '../domain/row.js';
import type { DraftBlock } from './fast/draft-block.js';

/** Rows, and their drafts where the reader has made them already. */
export interface ReadBlock {
  readonly rows: RowBlock;
  readonly drafts?: DraftBlock | undefined;
}

/** The records of one file, read once, in order. Refusals are thrown as UserError `bad-input`. */
export interface RecordReader {
  /** Names without the blanks around them; known after `open` for CSV, growing while blocks are read for NDJSON. */
  readonly columns: readonly string[];
  /**
   * For outputs of Volley the columns that begin with `_`: a list for each different set of them; complete when
   * `columns` is.
   */
  readonly ownColumns: readonly (readonly string[])[];
  /** What was detected or ignored, a sentence each, without the file name; complete when `blocks` has ended. */
  readonly notices: readonly string[];
  /** What separates the fields; known after `open`, absent for NDJSON and where a thread reads. */
  readonly delimiter?: string;
  /** The digest of the bytes read from disk; complete when `blocks` has ended. */
  readonly sha256: string;
  /** Reads up to the CSV header; refuses all its faults at once. */
  open(): Promise<void>;
  /** Reads at most 1,000 rows at a time, fewer if they are long; can be iterated once. */
  blocks(): AsyncIterable<ReadBlock>;
  /** Closes a file that is not read to its end. */
  close(): Promise<void>;
}

/** Most rows in a block. */
export const BLOCK_ROWS = 1000;
/** Blocks of long rows have fewer of them: some blocks are read ahead, and each may become one string. */
export const BLOCK_BYTES = 4 * 1024 * 1024;

/** The rows of a file one by one, those of a block at a time. */
export async function* readBatches(reader: RecordReader): AsyncGenerator<SourceRecord[]> {
  for await (const { rows } of reader.blocks()) yield listRecords(rows);
}

/** Names that would change an object itself, such as `__proto__`. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
