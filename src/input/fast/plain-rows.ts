import { BACKSLASH, CLOSING, COMMA, CR, LF, OPENING, QUOTE, SPACE } from '../../domain/bytes/ascii.js';
import type { RowWriter } from '../../domain/bytes/row-writer.js';
import type { Delimiter } from '../csv/delimiter.js';

/** What a byte means: itself, a character that JSON escapes, or an end (of the cell, of the row, of what is plain). */
const ITSELF = 0;
const ESCAPED = 1;
const END = 2;
/** JSON writes a byte as six at most: `\u001f`. */
const MOST_BYTES_A_BYTE = 6;
/** How JSON writes what it escapes. */
const ESCAPES: readonly Buffer[] = Array.from({ length: BACKSLASH + 1 }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
);

/**
 * Cuts lines of CSV into rows. Plain is a row of one line that ends with LF or CRLF, whose fields have no quotes or
 * are quoted from end to end, and that is no longer than `maxBytes`. Its result equals that of csv-parse.
 */
export class PlainRowCutter {
  readonly #delimiter: number;
  readonly #maxBytes: number;
  readonly #meanings: Uint8Array;
  readonly #meaningsInQuotes: Uint8Array;
  /** Where it reads, and where it writes. */
  #at = 0;
  #to = 0;

  constructor(delimiter: Delimiter, maxBytes: number) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#maxBytes = maxBytes;
    this.#meanings = listMeanings([LF, CR, QUOTE, this.#delimiter]);
    this.#meaningsInQuotes = listMeanings([LF, CR, QUOTE]);
  }

  /**
   * Opens a row in `rows` for the one that begins at `start`, where no line end stands, and returns where the line behind it
   * begins; -1 where it is not plain. A LF must follow somewhere. What a row writes beyond `maxBytes` has no room, and is dropped with it.
   */
  cut(bytes: Uint8Array, start: number, rows: RowWriter): number {
    const { bytes: json, start: jsonStart } = rows.open((this.#maxBytes + 2) * MOST_BYTES_A_BYTE);
    this.#at = start;
    this.#to = jsonStart;
    json[this.#to++] = OPENING;
    for (;;) {
      json[this.#to++] = QUOTE;
      if (bytes[this.#at] !== QUOTE) this.#copy(bytes, json, this.#meanings);
      else if (!this.#copyQuoted(bytes, json)) return -1;
      if (this.#at - start > this.#maxBytes) return -1;
      rows.endCell(this.#to);
      json[this.#to++] = QUOTE;
      if (bytes[this.#at] !== this.#delimiter) break;
      json[this.#to++] = COMMA;
      this.#at += 1;
    }
    if (bytes[this.#at] === CR) this.#at += 1;
    if (bytes[this.#at] !== LF) return -1;
    json[this.#to++] = CLOSING;
    json[this.#to] = LF;
    rows.endRow(this.#to);
    return this.#at + 1;
  }

  /** Copies up to an end. */
  #copy(bytes: Uint8Array, json: Uint8Array, meanings: Uint8Array): void {
    let at = this.#at;
    let to = this.#to;
    for (;;) {
      const byte = bytes[at] as number;
      const meaning = meanings[byte];
      if (meaning === ITSELF) json[to++] = byte;
      else if (meaning === ESCAPED) {
        for (const written of ESCAPES[byte] as Buffer) json[to++] = written;
      } else break;
      at += 1;
    }
    this.#at = at;
    this.#to = to;
  }

  /** Copies from one quote to the other; false where a line ends before it. */
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

function listMeanings(ends: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (ends.includes(byte)) return END;
    return byte < SPACE || byte === BACKSLASH || byte === QUOTE ? ESCAPED : ITSELF;
  });
}
