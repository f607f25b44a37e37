import { RowWriter } from '../../domain/bytes/row-writer.js';
import { countOf } from '../../domain/count-of.js';
import type { Rejection, SourceRecord } from '../../domain/row.js';
import { exceedsBytes } from '../../domain/text.js';
import type { Input } from '../../job/job.js';
import { buildRow, isBlankRow } from '../csv/csv-reader.js';
import { countTitles, describeTitles, HEADER_ROWS, type Header, readHeader } from '../header.js';
import type { InputFile } from '../inputs.js';
import { BLOCK_BYTES, BLOCK_ROWS, type ReadBlock, type RecordReader, refuse } from '../record-reader.js';
import { digestInput } from '../text/byte-source.js';
import type { OpenSheet } from './open-sheet.js';
import { type CellFault, nameColumn, type SheetRow } from './sheet-rows.js';

/**
 * Reads one sheet of an .xlsx workbook: its first row that is not blank is the header. Cells read as the sheet shows them, but
 * with all digits, and dates as ISO 8601. A row with an error, or with a formula whose value is not stored, is a rejection.
 */
export class XlsxReader implements RecordReader {
  columns: readonly string[] = [];
  ownColumns: readonly (readonly string[])[] = [];
  readonly notices: string[] = [];
  sha256 = '';
  readonly #file: InputFile;
  readonly #input: Input;
  #opened: Promise<Header> | undefined;
  #sheet: OpenSheet | undefined;
  #rows: AsyncGenerator<SheetRow[]> | undefined;
  /** Rows behind the header that came with it. */
  #ahead: SheetRow[] = [];
  #header: Header | undefined;
  #content = 0;
  #row = 0;
  #blankRows = 0;
  #hiddenRows = 0;

  constructor(file: InputFile, input: Input) {
    this.#file = file;
    this.#input = input;
  }

  async open(): Promise<void> {
    this.#opened ??= this.#readToHeader();
    this.#header = await this.#opened;
  }

  async close(): Promise<void> {
    await this.#rows?.return(undefined);
    this.#sheet?.close();
  }

  async *blocks(): AsyncGenerator<ReadBlock> {
    try {
      await this.open();
      const writer = new RowWriter(this.columns.length);
      for await (const rows of this.#readOn()) {
        for (const row of rows) {
          const record = this.#readRow(row);
          if (record === undefined) continue;
          writer.add(record);
          if (writer.count < BLOCK_ROWS && writer.bytes < BLOCK_BYTES) continue;
          this.#assertNotTooLong();
          yield { rows: writer.take() };
        }
      }
      if (writer.count > 0) yield { rows: writer.take() };
      this.sha256 = (await digestInput(this.#file.path)).sha256;
      this.#noticeEnd();
    } finally {
      await this.close();
    }
  }

  async *#readOn(): AsyncGenerator<SheetRow[]> {
    yield this.#ahead;
    this.#ahead = [];
    if (this.#rows !== undefined) yield* this.#rows;
  }

  #readRow({ cells, line, isHidden, fault }: SheetRow): SourceRecord | undefined {
    const header = this.#header;
    if (header === undefined || (isBlankRow(cells) && fault === undefined)) {
      this.#blankRows += 1;
      return undefined;
    }
    this.#row += 1;
    if (isHidden) this.#hiddenRows += 1;
    // Cells behind the header count if they hold something; those that a row lacks are blank.
    dropBlanks(cells, header.width);
    while (cells.length < header.width) cells.push('');
    const wrong = fault === undefined ? this.#findLong(cells) : describeFault(fault, header);
    const built = buildRow(cells, header, line);
    for (const cell of built.cells) this.#content += cell.length;
    return { ...built, fault: wrong ?? built.fault, row: this.#row };
  }

  #findLong(cells: readonly string[]): Rejection | undefined {
    const { maxFieldBytes } = this.#input.limits;
    const long = cells.findIndex((cell) => exceedsBytes(cell, maxFieldBytes));
    if (long === -1) return undefined;
    const reason = `the cell is too long, expected at most ${maxFieldBytes} bytes`;
    return { stage: 'read', field: this.columns[long] ?? '', code: 'field-too-long', reason };
  }

  /** One text may stand in a million cells: what is read counts too, not only what is stored. */
  #assertNotTooLong(): void {
    const { maxFileBytes } = this.#input.limits;
    if (this.#content > maxFileBytes) {
      const message = `its cells hold more than ${maxFileBytes} characters, expected at most that many`;
      const hint = 'Split it, or raise limits.maxFileBytes where the job names the file.';
      throw refuse({ where: this.#file.shown, message, hint });
    }
  }

  async #readToHeader(): Promise<Header> {
    const { openSheet } = await import('./open-sheet.js');
    this.#sheet = await openSheet(this.#file, this.#input);
    this.notices.push(...this.#sheet.notices);
    this.#rows = this.#sheet.rows();
    try {
      const rows: SheetRow[] = [];
      let filled = 0;
      for (let next = await this.#rows.next(); next.done !== true; next = await this.#rows.next()) {
        rows.push(...next.value);
        filled += next.value.filter(({ cells }) => !isBlankRow(cells)).length;
        if (filled >= HEADER_ROWS) break;
      }
      const first = rows.filter(({ cells }) => !isBlankRow(cells));
      const titles = countTitles(first.map(({ cells }) => cells));
      const found = first[titles];
      if (found !== undefined) return this.#readHeader(found, rows, first.slice(0, titles));
      throw refuse({ where: this.#file.shown, message: 'the sheet is empty, expected at least a header' });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #readHeader(found: SheetRow, rows: readonly SheetRow[], titles: readonly SheetRow[]): Header {
    const at = rows.indexOf(found);
    this.#blankRows += at - titles.length;
    this.#ahead = rows.slice(at + 1);
    if (titles.length > 0) this.notices.push(describeTitles(titles.map(({ cells }) => cells.join('').trim())));
    dropBlanks(found.cells, 0);
    const header = readHeader(found.cells, {
      where: `${this.#file.shown}:${found.line}`,
      maxColumns: this.#input.limits.maxColumns,
    });
    this.notices.push(...header.notices);
    this.columns = header.columns;
    this.ownColumns = header.own === undefined ? [] : [header.own.columns];
    return header;
  }

  #noticeEnd(): void {
    const width = this.#header?.width ?? 0;
    let hidden = 0;
    for (const { first, last } of this.#sheet?.found.hiddenColumns ?? []) {
      hidden += Math.max(0, Math.min(last, width - 1) - first + 1);
    }
    const merged = this.#sheet?.found.mergedCells ?? 0;
    if (this.#blankRows > 0) this.notices.push(`ignored ${countOf(this.#blankRows, 'blank row')}`);
    if (this.#hiddenRows > 0) this.notices.push(`read ${countOf(this.#hiddenRows, 'hidden row')} like the others`);
    if (hidden > 0) this.notices.push(`read ${countOf(hidden, 'hidden column')} like the others`);
    if (merged > 0)
      this.notices.push(`it has ${countOf(merged, 'merged cell')}: only the first cell of each holds its value`);
    if (this.#row === 0) this.notices.push('it holds a header and no rows');
  }
}

/** Blank cells at the end, down to a number of cells. */
function dropBlanks(cells: string[], least: number): void {
  while (cells.length > least && (cells.at(-1) ?? '').trim() === '') cells.pop();
}

function describeFault({ column, error }: CellFault, { columns, kept }: Header): Rejection {
  const field = columns[kept === undefined ? column : kept.indexOf(column)] ?? '';
  const cell = field === '' ? `the cell in column ${nameColumn(column)}` : 'the cell';
  return error === undefined
    ? { stage: 'read', field, code: 'no-formula-value', reason: `${cell} has a formula without a stored value` }
    : { stage: 'read', field, code: 'cell-error', reason: `${cell} shows the error ${error}` };
}
