import { BACKSLASH, OPENING, OPENING_BRACE, QUOTE, SPACE } from '../domain/bytes/ascii.js';
import type { ByteCells } from '../domain/bytes/row-block.js';
import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import { septetsByCodeUnit } from './gsm7.js';
import type { Piece } from './pieces.js';
import { GSM7_SINGLE } from './segments.js';

/**
 * The fast path of texts that are one part of GSM-7, as most are: they are counted and written from the bytes of the cells, without
 * creating strings. The result equals that of rendering, `checkText` and JSON.stringify.
 */
export interface ByteText {
  /** False for other texts, missing values and unclear cases: render those. */
  isOnePart(cells: ByteCells): boolean;
  /** Writes such a text as JSON, quotes included. */
  write(cells: ByteCells, text: TextBuffer): void;
}

/** Text of the template: JSON without quotes. */
interface FixedText {
  readonly bytes: Uint8Array;
  readonly septets: number;
}

/** The value of a column, and what stands for a blank one. */
interface Variable {
  readonly column: number;
  readonly fallback: FixedText | undefined;
}

/** `indexes`: of the cell of each variable. Undefined if no text can qualify. */
export function compileByteText(pieces: readonly Piece[], indexes: ReadonlyMap<string, number>): ByteText | undefined {
  const parts = pieces.map((piece): FixedText | Variable => {
    if (piece.kind === 'text') return fixText(piece.text);
    const fallback = piece.fallback === undefined ? undefined : fixText(piece.fallback);
    return { column: indexes.get(piece.name) ?? -1, fallback };
  });
  const fixed = parts.flatMap((part) => ('bytes' in part ? part : (part.fallback ?? [])));
  if (fixed.some(({ septets }) => septets > GSM7_SINGLE)) return undefined;
  return {
    isOnePart: (cells) => sumSeptets(parts, cells) <= GSM7_SINGLE,
    write: (cells, text) => {
      text.appendByte(QUOTE);
      for (const part of parts) {
        const own = 'bytes' in part ? part : takeFallback(part, cells);
        if (own !== undefined) text.appendBytes(own.bytes);
        else if ('column' in part) text.appendBytes(cells.bytes, cells.startOf(part.column), cells.endOf(part.column));
      }
      text.appendByte(QUOTE);
    },
  };
}

function fixText(text: string): FixedText {
  const bytes = Buffer.from(JSON.stringify(text).slice(1, -1));
  return { bytes, septets: countSeptets(bytes, 0, bytes.length) };
}

function takeFallback({ column, fallback }: Variable, cells: ByteCells): FixedText | undefined {
  return cells.startOf(column) === cells.endOf(column) ? fallback : undefined;
}

/** Infinite where the text is to be rendered. */
function sumSeptets(parts: readonly (FixedText | Variable)[], cells: ByteCells): number {
  let septets = 0;
  let values = 0;
  for (const part of parts) {
    const own = 'bytes' in part ? part : takeFallback(part, cells);
    if (own !== undefined) septets += own.septets;
    else if ('column' in part) {
      const start = cells.startOf(part.column);
      const end = cells.endOf(part.column);
      const first = cells.bytes[start] as number;
      // Nothing of GSM-7 is blank but what ASCII has: its first character shows that a cell is not.
      if (start === end || first <= SPACE || first === BACKSLASH) return Number.POSITIVE_INFINITY;
      // It may be an object or a list.
      if (first === OPENING || first === OPENING_BRACE) return Number.POSITIVE_INFINITY;
      values += 1;
      septets += countSeptets(cells.bytes, start, end);
    }
  }
  // Without a value, the text of the template may be blank.
  return values > 0 ? septets : Number.POSITIVE_INFINITY;
}

/** By the byte behind a backslash the septets of what it stands for; 0 where JSON gives the number of it. */
const ESCAPED_SEPTETS = new Uint8Array(256);
for (const character of '"\\\n\r\f')
  ESCAPED_SEPTETS[JSON.stringify(character).charCodeAt(2)] = septetsByCodeUnit[character.charCodeAt(0)] as number;

/** Bytes from here on begin characters of two bytes, and from there on longer ones, of which GSM-7 has one. */
const TWO_BYTES = 0x80;
const THREE_BYTES = 0xe0;
const EURO = Buffer.from('€');

/** Of JSON in UTF-8; infinite where it has what GSM-7 does not have. */
function countSeptets(json: Uint8Array, start: number, end: number): number {
  let septets = 0;
  for (let at = start; at < end; at += 1) {
    const byte = json[at] as number;
    let width: number;
    if (byte === BACKSLASH) {
      at += 1;
      width = ESCAPED_SEPTETS[json[at] as number] as number;
    } else if (byte < TWO_BYTES) width = septetsByCodeUnit[byte] as number;
    else if (byte < THREE_BYTES) {
      at += 1;
      width = septetsByCodeUnit[((byte & 0x1f) << 6) | ((json[at] as number) & 0x3f)] as number;
    } else {
      width = EURO.every((each, index) => json[at + index] === each) ? 2 : 0;
      at += 2;
    }
    if (width === 0) return Number.POSITIVE_INFINITY;
    septets += width;
  }
  return septets;
}
