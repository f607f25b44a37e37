import { BACKSLASH, QUOTE, SPACE } from '../domain/bytes/ascii.js';
import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { CellBytes } from '../domain/row.js';
import { isBlank } from './blank.js';
import { MAX_SEGMENTS } from './check-text.js';
import { JsonUnits, readUnit } from './json-units.js';
import type { Piece } from './pieces.js';
import { countExtraParts, countPlainUcs2Parts, GSM7_SINGLE, type SegmentCount } from './segments.js';

/**
 * The fast path of texts without surrogates, of one part of GSM-7 or of any number of UCS-2: they are counted and
 * written from the bytes of the cells, without creating strings. The result equals that of rendering, `checkText` and
 * JSON.stringify.
 */
export interface ByteText {
  /** Undefined for other texts, missing values and unclear cases: render those. */
  count(cells: CellBytes): Pick<SegmentCount, 'segments' | 'extraParts' | 'ucs2Characters'> | undefined;
  /** Writes a text that was counted as JSON, quotes included. */
  write(cells: CellBytes, text: TextBuffer): void;
}

/** The value of a column, and what stands for a blank one. */
interface Variable {
  readonly column: number;
  readonly fallback: FixedText | undefined;
}

type Part = FixedText | Variable;

/** Text of the template. */
class FixedText {
  /** JSON without quotes. */
  readonly bytes: Uint8Array;
  readonly units = new JsonUnits();
  readonly isCounted: boolean;

  constructor(text: string) {
    this.bytes = Buffer.from(JSON.stringify(text).slice(1, -1));
    this.isCounted = this.units.add(this.bytes, 0, this.bytes.length);
  }
}

/** `indexes`: of the cell of each variable. Undefined if no text can qualify. */
export function compileByteText(pieces: readonly Piece[], indexes: ReadonlyMap<string, number>): ByteText | undefined {
  const parts = pieces.map((piece): Part => {
    if (piece.kind === 'text') return new FixedText(piece.text);
    const fallback = piece.fallback === undefined ? undefined : new FixedText(piece.fallback);
    return { column: indexes.get(piece.name) ?? -1, fallback };
  });
  const fixed = parts.flatMap((part) => (part instanceof FixedText ? part : (part.fallback ?? [])));
  if (!fixed.every(({ isCounted }) => isCounted)) return undefined;
  return {
    count: (cells) => (addParts(parts, cells) ? countParts() : undefined),
    write: (cells, text) => {
      text.appendByte(QUOTE);
      for (const part of parts) {
        if (part instanceof FixedText) appendFixed(part, text);
        else appendValue(part, cells, text);
      }
      text.appendByte(QUOTE);
    },
  };
}

const TWO_BYTES = 0x80;

/** Of one text after the other. */
const total = new JsonUnits();

/** False where the text is to be rendered. */
function addParts(parts: readonly Part[], cells: CellBytes): boolean {
  const { bytes } = cells;
  let values = 0;
  total.clear();
  for (const part of parts) {
    if (part instanceof FixedText) {
      total.addUnits(part.units);
      continue;
    }
    const start = cells.startOf(part.column);
    const end = cells.endOf(part.column);
    if (start === end && part.fallback !== undefined) total.addUnits(part.fallback.units);
    else {
      values += 1;
      if (!holdsValue(bytes, start, end) || !total.add(bytes, start, end)) return false;
    }
  }
  // Without a value, the text of the template may be blank.
  return values > 0;
}

/** Whether the first character alone shows that a cell is not blank. */
function holdsValue(json: Uint8Array, start: number, end: number): boolean {
  const first = json[start] as number;
  if (start === end || first <= SPACE || first === BACKSLASH) return false;
  return first < TWO_BYTES || !isBlank(String.fromCharCode(readUnit(json, start)));
}

function countParts(): ReturnType<ByteText['count']> {
  if (total.ucs2 === '') return total.septets <= GSM7_SINGLE ? ONE_PART : undefined;
  const segments = countPlainUcs2Parts(total.units);
  if (segments > MAX_SEGMENTS) return undefined;
  const extraParts = countExtraParts(segments, total.units);
  return { segments, extraParts, ucs2Characters: total.ucs2 };
}

const ONE_PART = { segments: 1, extraParts: 0, ucs2Characters: undefined };

function appendFixed({ bytes }: FixedText, text: TextBuffer): void {
  text.appendBytes(bytes);
}

function appendValue({ column, fallback }: Variable, cells: CellBytes, text: TextBuffer): void {
  const start = cells.startOf(column);
  const end = cells.endOf(column);
  if (start === end && fallback !== undefined) appendFixed(fallback, text);
  else text.appendBytes(cells.bytes, start, end);
}
