import { ByteCells, listRecords, type RowBlock } from '../domain/bytes/row-block.js';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import { nameCode, type Problem, UserError } from '../domain/errors.js';
import type { SourceRecord } from '../domain/row.js';
import { type DraftRow, type RowDraft, type RowRefusal, reject } from '../kinds/step-kind.js';

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

export const BLOCK_ROWS = 1000;
/** Blocks of long rows have fewer of them: some blocks are read ahead, and each may become one string. */
export const BLOCK_BYTES = 4 * 1024 * 1024;

/** The rows of a file one by one, those of a block at a time. */
export async function* readBatches(reader: RecordReader): AsyncGenerator<SourceRecord[]> {
  for await (const { rows } of reader.blocks()) yield listRecords(rows);
}

/** Names that would change an object itself, such as `__proto__`. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A refusal of a file as a whole, for one reason: "<what is so>, expected <what should be>". */
export function refuse(problem: Problem): UserError {
  return refuseAll([problem]);
}

/** A refusal for several reasons at once; there is at least one. */
export function refuseAll(problems: readonly Problem[]): UserError {
  const [first] = problems;
  const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const message = `Cannot read ${first?.where}: ${first?.message}${others}`;
  return new UserError('bad-input', message, { hint: first?.hint, problems });
}

/** A refusal for a disk error; any other error is returned as it is. */
export function refuseUnreadable(shown: string, error: unknown): unknown {
  const reason = describeDiskError(error);
  if (reason === undefined) return error;
  return refuse({ where: shown, message: `${reason}, expected a file that can be read` });
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'this user has no permission to read it',
  EPERM: 'this user has no permission to read it',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a symbolic link that points back to itself',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'this process has too many open files',
  EIO: 'the disk failed',
};

/** Describes an error of the disk for a person; undefined for any other error. */
export function describeDiskError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return DISK_ERRORS[String(error.code)] ?? `the disk answered ${nameCode(error.code)}`;
}

/** Drafts of the rows of a block as bytes, which pass between threads and into a plan unchanged. */
export interface DraftBlock {
  /** The digits of each row's number, which are exact: there are 15 at most. 0 where there is none. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** The segments of each row. Invariant: no message that can be sent has more than 255. */
  readonly segments: Uint8Array<ArrayBuffer>;
  /** How many of each row's segments UCS-2 adds. */
  readonly extraParts: Uint8Array<ArrayBuffer>;
  /** UTF-8: what each row adds to the body, then its facts; where these begin and end stands below. A refused row has none. */
  readonly texts: Uint8Array<ArrayBuffer>;
  readonly factsAt: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The two letters of each row's country; 0 where there is none. */
  readonly countries: Uint16Array<ArrayBuffer>;
  /** By the row's index in the block: the characters that force UCS-2, those that were replaced in its text, its group of hours. */
  readonly ucs2: ReadonlyMap<number, string>;
  readonly replaced: ReadonlyMap<number, string>;
  readonly hours: ReadonlyMap<number, string>;
  /** Why a row is not sent, by the row's index in the block. */
  readonly refusals: ReadonlyMap<number, RowRefusal>;
}

/** Reused for every block: allocating takes longer than filling. */
const text = new TextBuffer();

/** A row that cannot be read has no draft: it is refused for its fault. */
export function draftBlock(block: RowBlock, draftRow: DraftRow): DraftBlock {
  const count = block.lines.length;
  const cells = new ByteCells(block);
  const numbers = new Float64Array(count);
  const segments = new Uint8Array(count);
  const extraParts = new Uint8Array(count);
  const factsAt = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const countries = new Uint16Array(count);
  const [ucs2, replaced, hours] = [new Map<number, string>(), new Map<number, string>(), new Map<number, string>()];
  const refusals = new Map<number, RowRefusal>();
  for (const [index, fault] of block.faults) refusals.set(index, reject(fault));
  text.clear();
  for (let index = 0; index < count; index += 1) {
    cells.row = index;
    const draft: RowDraft = block.faults.has(index) ? {} : draftRow(cells, text);
    if (draft.refusal !== undefined) refusals.set(index, draft.refusal);
    factsAt[index] = draft.factsAt ?? text.length;
    numbers[index] = draft.number ?? 0;
    segments[index] = draft.segments ?? 0;
    extraParts[index] = draft.extraParts ?? 0;
    countries[index] = packCountry(draft.country);
    if (draft.forcesUcs2 !== undefined) ucs2.set(index, draft.forcesUcs2);
    if (draft.replaced !== undefined) replaced.set(index, draft.replaced);
    if (draft.hours !== undefined) hours.set(index, draft.hours);
    ends[index] = text.length;
  }
  return {
    numbers,
    segments,
    extraParts,
    texts: text.copy(),
    factsAt,
    ends,
    countries,
    ucs2,
    replaced,
    hours,
    refusals,
  };
}

function packCountry(country: string | undefined): number {
  return country === undefined ? 0 : (country.charCodeAt(0) << 8) | country.charCodeAt(1);
}

export function unpackCountry(packed: number): string | undefined {
  return packed === 0 ? undefined : String.fromCharCode(packed >> 8, packed & 0xff);
}
