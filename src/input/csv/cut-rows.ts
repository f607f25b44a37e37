import type { RowWriter } from '../../domain/bytes/row-writer.js';
import { BACKSLASH, CLOSING, COMMA, CR, EQUALS, LF, OPENING, QUOTE, SPACE } from '../../domain/bytes/text-buffer.js';
import type { ReadLimits } from '../../job/job.js';

export type Delimiter = ',' | ';' | '\t' | '|';

/** What a byte means: itself, a character that JSON escapes, or an end (of the cell, of the row, of what is cut). */
const ITSELF = 0;
const ESCAPED = 1;
const END = 2;
/** JSON writes a byte as six at most: `\u001f`. */
const MOST_BYTES_A_BYTE = 6;
/** How JSON writes what it escapes. */
const ESCAPES: readonly Buffer[] = Array.from({ length: BACKSLASH + 1 }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
);

/** Longer rows are left to csv-parse: each that is cut reserves as much. */
const MOST_CUT_BYTES = 64 * 1024;

/**
 * Cuts CSV into rows: those whose fields have no quotes or are quoted from end to end, within the limits. Its result equals that of
 * csv-parse.
 */
export class RowCutter {
  /** Whether a field of the row that was cut last holds a line end. */
  isSpanning = false;
  readonly #delimiter: number;
  readonly #maxBytes: number;
  readonly #maxFieldBytes: number;
  readonly #meanings: Uint8Array;
  readonly #meaningsInQuotes: Uint8Array;
  /** Where it reads, how far, and where it writes. */
  #at = 0;
  #end = 0;
  #to = 0;

  constructor(
    delimiter: Delimiter,
    { maxLineBytes, maxFieldBytes }: Pick<ReadLimits, 'maxLineBytes' | 'maxFieldBytes'>,
  ) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#maxBytes = Math.min(maxLineBytes, MOST_CUT_BYTES);
    this.#maxFieldBytes = maxFieldBytes;
    this.#meanings = listMeanings([LF, CR, QUOTE, this.#delimiter]);
    this.#meaningsInQuotes = listMeanings([QUOTE]);
  }

  /**
   * Opens a row in `rows` for the one that begins at `start`, where no line end stands, and returns where the line behind it
   * begins; -1 where it is not cut: it is beyond the limits, has a fault or a formula, or does not end, yet.
   */
  cut(bytes: Uint8Array, start: number, rows: RowWriter): number {
    const { bytes: json, start: jsonStart } = rows.open((this.#maxBytes + 2) * MOST_BYTES_A_BYTE);
    this.#at = start;
    this.#end = Math.min(bytes.length, start + this.#maxBytes);
    this.#to = jsonStart;
    this.isSpanning = false;
    json[this.#to++] = OPENING;
    for (;;) {
      const field = this.#at;
      json[this.#to++] = QUOTE;
      if (bytes[field] !== QUOTE) this.#copy(bytes, json, this.#meanings);
      else if (bytes[field + 1] === EQUALS || !this.#copyQuoted(bytes, json)) return -1;
      if (this.#at > this.#end || this.#at - field > this.#maxFieldBytes) return -1;
      rows.endCell(this.#to);
      json[this.#to++] = QUOTE;
      if (bytes[this.#at] !== this.#delimiter) break;
      json[this.#to++] = COMMA;
      this.#at += 1;
    }
    const ended = lineEndAt(bytes, this.#at);
    if (ended === 0) return -1;
    json[this.#to++] = CLOSING;
    json[this.#to] = LF;
    rows.endRow(this.#to);
    return this.#at + ended;
  }

  /** Copies up to an end. */
  #copy(bytes: Uint8Array, json: Uint8Array, meanings: Uint8Array): void {
    const end = this.#end;
    let at = this.#at;
    let to = this.#to;
    for (; at < end; at += 1) {
      const byte = bytes[at] as number;
      const meaning = meanings[byte];
      if (meaning === ITSELF) json[to++] = byte;
      else if (meaning === ESCAPED) {
        if (byte === LF || byte === CR) this.isSpanning = true;
        for (const written of ESCAPES[byte] as Buffer) json[to++] = written;
      } else break;
    }
    this.#at = at;
    this.#to = to;
  }

  /** Copies from one quote to the other; false where none follows. */
  #copyQuoted(bytes: Uint8Array, json: Uint8Array): boolean {
    for (;;) {
      this.#at += 1;
      this.#copy(bytes, json, this.#meaningsInQuotes);
      if (bytes[this.#at] !== QUOTE) return false;
      this.#at += 1;
      if (bytes[this.#at] !== QUOTE) return true;
      json[this.#to++] = BACKSLASH;
      json[this.#to++] = QUOTE;
    }
  }
}

/** Bytes of the line end at `at`: 0 where none stands, or a LF may still follow. */
export function lineEndAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR || at + 1 === bytes.length) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

function listMeanings(ends: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (ends.includes(byte)) return END;
    return byte < SPACE || byte === BACKSLASH || byte === QUOTE ? ESCAPED : ITSELF;
  });
}
