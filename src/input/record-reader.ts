import type { RowBlock } from '../domain/bytes/row-block.js';
import type { SourceRecord } from '../domain/row.js';
import type { RowStep } from '../job/job.js';
import type { DraftBlock } from './fast/draft-block.js';

/** A record with what an output says of it beside its cells. */
export interface InputRecord extends SourceRecord {
  /** Identifies a row of a rejections file: '' for a row without one, '?' where a fault hides it; absent elsewhere. */
  readonly ownId?: string | undefined;
}

/** Rows with their drafts, as bytes that go into the plan as they are. */
export interface DraftedBlock {
  readonly rows: RowBlock;
  readonly drafts: DraftBlock;
}

/** The records of one file, read once, in order. Refusals are thrown as UserError `bad-input`. */
export interface RecordReader {
  /** Names without the blanks around them; known after `open` for CSV, growing while batches are read for NDJSON. */
  readonly columns: readonly string[];
  /**
   * For outputs of Volley the columns that begin with `_`: a list for each different set of them; complete when
   * `columns` is.
   */
  readonly ownColumns: readonly (readonly string[])[];
  /** What was detected or ignored, a sentence each, without the file name; complete when `batches` has ended. */
  readonly notices: readonly string[];
  /** What separates the fields; known after `open`, absent for NDJSON and where a thread reads. */
  readonly delimiter?: string;
  /** Of the bytes read from disk; complete when `batches` has ended. */
  readonly sha256: string;
  /** Reads up to the CSV header; refuses all its faults at once. */
  open(): Promise<void>;
  /** At most 1,000 records at a time, fewer if they are long; can be iterated once. */
  batches(): AsyncIterable<readonly InputRecord[]>;
  /**
   * The rows with the drafts that the step makes of them; absent or undefined if the reader cannot, for this step or for
   * outputs of Volley. To be called after `open`, in place of `batches`.
   */
  draftedBlocks?(step: RowStep): AsyncIterable<DraftedBlock> | undefined;
  /** Closes a file that is not read to its end. */
  close(): Promise<void>;
}

/** Most records in a batch. */
export const BATCH_RECORDS = 1000;

/** Names that would change an object itself, such as `__proto__`. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
