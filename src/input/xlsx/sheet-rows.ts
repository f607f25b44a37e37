import type { UserError } from '../../domain/errors.js';
import { refuse } from '../refusal.js';
import { refuseDamaged } from './archive.js';
import type { CellFormats } from './cell-formats.js';
import type { SharedTexts } from './shared-texts.js';
import { writeInFull } from './show-number.js';
import { decodeEscapes, TextGatherer } from './text-gatherer.js';
import { isTrue } from './workbook.js';
import type { XmlHandlers } from './xml-reader.js';

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
  /** The first cell at fault. */
  readonly fault: CellFault | undefined;
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

/** Gathers the rows of a sheet from the tags of its part. Refuses rows and cells that are not in their order. */
export class SheetRows implements XmlHandlers {
  /** Of the columns that are hidden, the first and the last; from 0. */
  readonly hiddenColumns: { readonly first: number; readonly last: number }[] = [];
  mergedCells = 0;
  readonly #context: SheetContext;
  readonly #inline = new TextGatherer();
  #rows: SheetRow[] = [];
  #line = 0;
  #cells: string[] = [];
  /** Of the cell that is read, from 0. */
  #column = -1;
  #length = 0;
  #isHidden = false;
  #fault: CellFault | undefined;
  #type = '';
  #style = '';
  #value = '';
  #hasFormula = false;
  /** The tag whose text is read: the value of a cell, or a text in it. */
  #within: 'v' | 'is' | undefined;

  constructor(context: SheetContext) {
    this.#context = context;
  }

  /** The rows that have ended since the last call. */
  take(): SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#within === 'is') this.#inline.open(name);
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'v' || name === 'is') this.#within = name;
    else if (name === 'f') this.#hasFormula = true;
    else if (name === 'row') this.#openRow(attributes);
    else if (name === 'mergeCell') this.mergedCells += 1;
    else if (name === 'col' && isTrue(attributes.hidden)) {
      this.hiddenColumns.push({ first: Number(attributes.min) - 1, last: Number(attributes.max) - 1 });
    }
  }

  text(text: string): void {
    if (this.#within === 'v') this.#value += text;
    else if (this.#within === 'is') this.#inline.add(text);
  }

  close(name: string): void {
    if (name === 'v' || name === 'is') this.#within = undefined;
    else if (this.#within === 'is') this.#inline.close(name);
    else if (name === 'c') this.#closeCell();
    else if (name === 'row') this.#closeRow();
  }

  #openRow({ r, hidden }: Readonly<Record<string, string>>): void {
    const line = r === undefined ? this.#line + 1 : Number(r);
    if (!(line > this.#line) || !Number.isSafeInteger(line)) throw this.#refuse(`row ${r} follows row ${this.#line}`);
    this.#line = line;
    this.#cells = [];
    this.#column = -1;
    this.#length = 0;
    this.#fault = undefined;
    this.#isHidden = isTrue(hidden);
  }

  #openCell({ r, t = 'n', s = '' }: Readonly<Record<string, string>>): void {
    const column = r === undefined ? this.#column + 1 : columnOf(r);
    if (!(column > this.#column && column < MAX_COLUMN)) {
      throw this.#refuse(`a cell of row ${this.#line} stands in a wrong place`);
    }
    this.#column = column;
    this.#type = t;
    this.#style = s;
    this.#value = '';
    this.#hasFormula = false;
  }

  #closeCell(): void {
    const text = this.#readCell();
    if (text === '') return;
    this.#length += text.length;
    if (this.#length > this.#context.maxRowLength) throw refuseLong(this.#context, this.#line);
    while (this.#cells.length < this.#column) this.#cells.push('');
    this.#cells.push(text);
  }

  #closeRow(): void {
    this.#rows.push({ cells: this.#cells, line: this.#line, isHidden: this.#isHidden, fault: this.#fault });
  }

  #readCell(): string {
    const value = this.#value;
    switch (this.#type) {
      case 's':
        return value === '' ? this.#readBlank() : this.#findText(value);
      case 'inlineStr':
        return this.#inline.take();
      case 'str':
        return decodeEscapes(value);
      case 'b':
        return value === '' ? this.#readBlank() : isTrue(value.toLowerCase()) ? 'TRUE' : 'FALSE';
      case 'e':
        return this.#readError(value);
      case 'd':
        return value.replace(/T00:00:00(?:\.0+)?Z?$/, '');
      case 'n':
        return value === '' ? this.#readBlank() : this.#readNumber(value);
      default:
        throw this.#refuse(`a cell of row ${this.#line} has the unknown type ${JSON.stringify(this.#type)}`);
    }
  }

  #readBlank(): string {
    if (this.#hasFormula) this.#fault ??= { column: this.#column, error: undefined };
    return '';
  }

  #readError(error: string): string {
    this.#fault ??= { column: this.#column, error };
    return error;
  }

  #findText(index: string): string {
    const text = this.#context.texts[Number(index)];
    if (text === undefined)
      throw this.#refuse(`row ${this.#line} names text ${index} of ${this.#context.texts.length}`);
    return text;
  }

  #readNumber(stored: string): string {
    const show = this.#style === '' ? writeInFull : (this.#context.formats[Number(this.#style)] ?? writeInFull);
    const text = show(stored);
    if (text === undefined) throw this.#refuse(`a cell of row ${this.#line} holds a number that is none`);
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

/** From 0, by the letters of a cell's name: `AB12` is 27. NaN for another name. */
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
