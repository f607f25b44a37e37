import type { SourceRecord } from '../domain.js';

/** The records of one file, read once, in order. Refusals are thrown as UserError `bad-input`. */
export interface RecordReader {
  /** Names without the blanks around them; known after `open` for CSV, growing while batches are read for NDJSON. */
  readonly columns: readonly string[];
  /** What was found out or passed over, a sentence each, without the name of the file; whole when `batches` has ended. */
  readonly notices: readonly string[];
  /** Of the bytes on disk that were read; whole when `batches` has ended. */
  readonly sha256: string;
  readonly bytes: number;
  /** Reads as far as the CSV header; refuses what is wrong with it, all at once. */
  open(): Promise<void>;
  /** About 1,000 records at a time; can be walked once. */
  batches(): AsyncIterable<readonly SourceRecord[]>;
  /** Lets go of a file that is not read to its end. */
  close(): Promise<void>;
}

/** Records handed over at a time. */
export const BATCH_RECORDS = 1000;

/** Names that would change what an object is rather than what it holds. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
