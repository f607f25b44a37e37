import type { SourceRecord } from '../domain/row.js';

/** A record with what an output of ours says of it beside its cells. */
export interface ReadRecord extends SourceRecord {
  /** By which a row of a rejections file is known again: '' for a row without, '?' where a fault hides it; absent elsewhere. */
  readonly ownId?: string | undefined;
}

/** The records of one file, read once, in order. Refusals are thrown as UserError `bad-input`. */
export interface RecordReader {
  /** Names without the blanks around them; known after `open` for CSV, growing while batches are read for NDJSON. */
  readonly columns: readonly string[];
  /** For outputs of ours the columns that begin as ours do: a list for each different set of them; whole when `columns` is. */
  readonly ownColumns: readonly (readonly string[])[];
  /** What was found out or passed over, a sentence each, without the name of the file; whole when `batches` has ended. */
  readonly notices: readonly string[];
  /** Of the bytes on disk that were read; whole when `batches` has ended. */
  readonly sha256: string;
  readonly bytes: number;
  /** Reads as far as the CSV header; refuses what is wrong with it, all at once. */
  open(): Promise<void>;
  /** At most 1,000 records at a time, fewer where they are long; can be walked once. */
  batches(): AsyncIterable<readonly ReadRecord[]>;
  /** Lets go of a file that is not read to its end. */
  close(): Promise<void>;
}

/** Records handed over at a time. */
export const BATCH_RECORDS = 1000;

/** Names that would change what an object is rather than what it holds. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
