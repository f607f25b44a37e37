import type { UserError } from '../../domain/errors.js';
import { refuse } from '../record-reader.js';
import { refuseDamaged } from './archive.js';
import { type CellFormats, isTrue, writeInFull } from './workbook.js';
import { decodeEscapes, isRun, type SharedTexts, type Tag } from './xml-reader.js';

/** A cell without a value that could be read. */
export interface CellFault {
  readonly column: number;
  /** The error that it shows, such as #N/A; undefined for a formula whose value is not stored. */
  readonly error: string | undefined;
}

export interface SheetRow {
  /** Up to the last one that is not empty. */
  readonly cells: string[];
  /** Number of the row in the sheet. */
  readonly line: number;
  readonly isHidden: boolean;
  fault: CellFault | undefined;
}

export interface SheetContext {
  /** The file, for refusals. */
  readonly shown: string;
  readonly texts: SharedTexts;
  readonly formats: CellFormats;
  /** Most characters in the cells of a row. */
  readonly maxRowLength: number;
}

/** The last column that a spreadsheet can have, XFD. */
const MAX_COLUMN = 16_384;

interface SheetCell {
  /** From 0. */
  readonly column: number;
  value: string;
  /** A text that stands in the cell itself. */
  inline: string;
  hasFormula: boolean;
}

/** Gathers the rows of a sheet from the tags of its part. Refuses rows and cells that are not in their order. */
export class SheetRows {
  /** Ranges of hidden columns, by the first and the last; from 0. */
  readonly hiddenColumns: { readonly first: number; readonly last: number }[] = [];
  mergedCells = 0;
  readonly #context: SheetContext;
  #rows: SheetRow[] = [];
  #row: SheetRow = { cells: [], line: 0, isHidden: false, fault: undefined };
  /** Characters in the cells of the row. */
  #length = 0;
  #cell: SheetCell | undefined;

  constructor(context: SheetContext) {
    this.#context = context;
  }

  /** The rows that have ended since the last call. */
  take(): SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open({ name, attributes }: Tag): void {
    if (name === 'c') this.#openCell(attributes);
    else if (name === 'row') this.#openRow(attributes);
    else if (name === 'mergeCell') this.mergedCells += 1;
    else if (name === 'col' && isTrue(attributes.hidden)) {
      this.hiddenColumns.push({ first: Number(attributes.min) - 1, last: Number(attributes.max) - 1 });
    }
  }

  close(tag: Tag): void {
    const cell = this.#cell;
    if (tag.name === 'row') this.#rows.push(this.#row);
    else if (cell === undefined) return;
    else if (tag.name === 'v') cell.value = tag.text;
    else if (tag.name === 'f') cell.hasFormula = true;
    else if (isRun(tag)) cell.inline += tag.text;
    else if (tag.name === 'c') this.#addCell(cell.column, this.#readCell(cell, tag.attributes));
  }

  #openRow({ r, hidden }: Tag['attributes']): void {
    const { line: last } = this.#row;
    const line = r === undefined ? last + 1 : Number(r);
    if (!(line > last) || !Number.isSafeInteger(line)) throw this.#refuse(`row ${r} follows row ${last}`);
    this.#row = { cells: [], line, isHidden: isTrue(hidden), fault: undefined };
    this.#length = 0;
    this.#cell = undefined;
  }

  #openCell({ r }: Tag['attributes']): void {
    const last = this.#cell?.column ?? -1;
    const column = r === undefined ? last + 1 : columnOf(r);
    if (!(column > last && column < MAX_COLUMN)) {
      throw this.#refuse(`a cell of row ${this.#row.line} stands in a wrong place`);
    }
    this.#cell = { column, value: '', inline: '', hasFormula: false };
  }

  #addCell(column: number, text: string): void {
    if (text === '') return;
    this.#length += text.length;
    const { cells, line } = this.#row;
    if (this.#length > this.#context.maxRowLength) throw refuseLong(this.#context, line);
    while (cells.length < column) cells.push('');
    cells.push(text);
  }

  #readCell(cell: SheetCell, { t: type = 'n', s: style = '' }: Tag['attributes']): string {
    const { value } = cell;
    if (value === '' && (type === 's' || type === 'b' || type === 'n')) {
      if (cell.hasFormula) this.#row.fault ??= { column: cell.column, error: undefined };
      return '';
    }
    switch (type) {
      case 's':
        return this.#findText(value);
      case 'inlineStr':
        return decodeEscapes(cell.inline);
      case 'str':
        return decodeEscapes(value);
      case 'b':
        return isTrue(value.toLowerCase()) ? 'TRUE' : 'FALSE';
      case 'e':
        this.#row.fault ??= { column: cell.column, error: value };
        return value;
      case 'd':
        return value.replace(/T00:00:00(?:\.0+)?Z?$/, '');
      case 'n':
        return this.#readNumber(value, style);
      default:
        throw this.#refuse(`a cell of row ${this.#row.line} has the unknown type ${JSON.stringify(type)}`);
    }
  }

  #findText(index: string): string {
    const { texts } = this.#context;
    const text = texts[Number(index)];
    if (text === undefined) throw this.#refuse(`row ${this.#row.line} names text ${index} of ${texts.length}`);
    return text;
  }

  #readNumber(stored: string, style: string): string {
    const show = style === '' ? writeInFull : (this.#context.formats[Number(style)] ?? writeInFull);
    const text = show(stored);
    if (text === undefined) throw this.#refuse(`a cell of row ${this.#row.line} holds a number that is none`);
    return text;
  }

  #refuse(reason: string): UserError {
    return refuseDamaged(this.#context.shown, reason);
  }
}

function refuseLong({ shown, maxRowLength }: SheetContext, line: number): UserError {
  return refuse({
    where: `${shown}:${line}`,
    message: `the row is too long, expected at most ${maxRowLength} characters`,
    hint: 'If the row is right, raise limits.maxLineBytes where the job names the file.',
  });
}

/** The column, from 0, that the letters of a cell's name mean: `AB12` is 27. NaN for another name. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at += 1) {
    const letter = reference.charCodeAt(at) - 64;
    if (letter < 1 || letter > 26) return at === 0 ? Number.NaN : column - 1;
    column = column * 26 + letter;
  }
  return column - 1;
}

/** Letters of a column, from 0: 27 is `AB`. */
export function nameColumn(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : nameColumn(Math.floor(column / 26) - 1) + letter;
}
