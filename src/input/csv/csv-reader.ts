import { RowWriter } from '../../domain/bytes/row-writer.js';
import { DELETE, SPACE } from '../../domain/bytes/text-buffer.js';
import { countOf } from '../../domain/count-of.js';
import { restoreCell } from '../../domain/formula-cell.js';
import { HIDDEN_ID } from '../../domain/output-columns.js';
import type { Rejection, SourceRecord } from '../../domain/row.js';
import type { Input } from '../../job/job.js';
import { countTitles, describeTitles, HEADER_ROWS, type Header, readHeader } from '../header.js';
import type { InputFile } from '../inputs.js';
import { BLOCK_BYTES, BLOCK_ROWS, type ReadBlock, type RecordReader, refuse } from '../record-reader.js';
import { type ByteSource, Digest, takeHead } from '../text/byte-source.js';
import { countLineEnds, decodeText, findInUtf8 } from '../text/decode-text.js';
import { CsvRows, refuseLongRow } from './csv-rows.js';
import type { Delimiter } from './cut-rows.js';

/** How many bytes are searched for the header that shows the delimiter. */
const HEAD_BYTES = 256 * 1024;

interface Opened {
  readonly header: Header;
  readonly rows: CsvRows;
}

/** Reads a CSV file: a faulty row becomes a rejection, a fault that makes all rows doubtful refuses the file. */
export class CsvReader implements RecordReader {
  columns: readonly string[] = [];
  ownColumns: readonly (readonly string[])[] = [];
  delimiter: Delimiter = ',';
  readonly notices: string[] = [];
  readonly #file: InputFile;
  #input: Input;
  readonly #digest = new Digest();
  #text: AsyncGenerator<Buffer> | undefined;
  #opened: Promise<Opened> | undefined;
  #isEnded = false;
  #row = 0;
  #blankRows = 0;
  #swallowing: number[] = [];

  constructor(file: InputFile, input: Input) {
    this.#file = file;
    this.#input = input;
  }

  get sha256(): string {
    return this.#digest.sha256;
  }

  async open(): Promise<void> {
    this.#opened ??= this.#readToHeader();
    await this.#opened;
  }

  async close(): Promise<void> {
    await this.#text?.return(undefined);
  }

  async *blocks(): AsyncGenerator<ReadBlock> {
    this.#opened ??= this.#readToHeader();
    const { header, rows } = await this.#opened;
    const writer = new RowWriter(header.columns.length);
    try {
      do {
        while (rows.next(writer)) {
          if (header.own === undefined && rows.cells === undefined && !rows.isSpanning && writer.isPlain) {
            this.#row += 1;
            writer.keep(rows.line, this.#row);
          } else this.#addRow(rows.cells ?? writer.takeBack(), { rows, header, writer });
          if (writer.count === BLOCK_ROWS || writer.bytes >= BLOCK_BYTES) yield { rows: writer.take() };
        }
      } while (await this.#readPiece(rows));
      if (writer.count > 0) yield { rows: writer.take() };
      this.#noticeEnd(rows);
    } finally {
      await this.close();
    }
  }

  #addRow(
    cells: string[],
    { rows: { line, isSpanning }, header, writer }: { rows: CsvRows; header: Header; writer: RowWriter },
  ): void {
    if (cells.length > this.#input.limits.maxColumns) throw refuseLongRow(this.#where(line), this.#input.limits);
    if (isBlankRow(cells)) {
      this.#blankRows += 1;
      return;
    }
    if (isSpanning && looksLikeUnclosedQuote(cells, this.delimiter)) this.#swallowing.push(line);
    this.#row += 1;
    writer.add({ ...buildRow(cells, header, line), row: this.#row });
  }

  async #readToHeader(): Promise<Opened> {
    const { path, shown, key } = this.#file;
    const source = { path, shown, key, maxFileBytes: this.#input.limits.maxFileBytes };
    const isStated = this.#input.encoding !== undefined || this.#input.delimiter !== undefined;
    const delimiter = isStated ? await findOwnDelimiter(source) : undefined;
    if (delimiter !== undefined) this.#input = { ...this.#input, encoding: 'utf-8', delimiter };
    this.#text = decodeText(source, {
      encoding: this.#input.encoding,
      digest: this.#digest,
      onNotice: (notice) => this.notices.push(notice),
    });
    try {
      const head = await takeHead(this.#text, ({ length }) => length >= HEAD_BYTES);
      const start = findCsvStart(head, this.#input.delimiter, shown);
      this.notices.push(start.notice);
      this.delimiter = start.delimiter;
      const firstLine = start.skippedBytes === 0 ? 1 : 2;
      const place = (line: number) => this.#where(line);
      const rows = new CsvRows(start.delimiter, this.#input.limits, { firstLine, place });
      rows.give(head.subarray(start.skippedBytes));
      const { cells, line } = await this.#findHeader(rows, start.titles);
      return { header: this.#readHeader(cells, line), rows };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #findHeader(rows: CsvRows, count: number): Promise<{ cells: string[]; line: number }> {
    const writer = new RowWriter(0);
    const titles: string[] = [];
    do {
      while (rows.next(writer)) {
        const cells = rows.cells ?? writer.takeBack();
        if (cells.length <= this.#input.limits.maxColumns && isBlankRow(cells)) this.#blankRows += 1;
        else if (titles.length < count) titles.push(cells.join('').trim());
        else {
          if (count > 0) this.notices.push(describeTitles(titles));
          return { cells, line: rows.line };
        }
      }
    } while (await this.#readPiece(rows));
    throw refuse({ where: this.#file.shown, message: 'it holds only blank lines, expected at least a header' });
  }

  #readHeader(cells: readonly string[], line: number): Header {
    const header = readHeader(cells, {
      where: this.#where(line),
      maxColumns: this.#input.limits.maxColumns,
      delimiter: this.delimiter,
    });
    this.columns = header.columns;
    this.ownColumns = header.own === undefined ? [] : [header.own.columns];
    this.notices.push(...header.notices);
    return header;
  }

  /** False when the file has ended. */
  async #readPiece(rows: CsvRows): Promise<boolean> {
    if (this.#isEnded || this.#text === undefined) return false;
    const next = await this.#text.next();
    this.#isEnded = next.done === true;
    rows.give(next.done === true ? undefined : next.value);
    return true;
  }

  #where(line: number): string {
    return `${this.#file.shown}:${line}`;
  }

  #noticeEnd({ blankLines }: CsvRows): void {
    const blank = this.#blankRows + blankLines;
    if (blank > 0) this.notices.push(`ignored ${countOf(blank, 'blank line')}`);
    if (this.#row === 0) this.notices.push('it holds a header and no rows');
    const [first] = this.#swallowing;
    if (first === undefined) return;
    const more = this.#swallowing.length > 1 ? ` (and ${this.#swallowing.length - 1} more)` : '';
    this.notices.push(
      `the row on line ${first}${more} holds a field of several lines that look like rows of their own: a quote may be missing`,
    );
  }
}

const CANDIDATES: readonly Delimiter[] = [',', ';', '\t', '|'];
const ANY = /[,;\t|]/;

/**
 * The delimiter that the job or the first line states (`sep=;`), else the one that stands most often in the header, outside quotes;
 * a comma when the header has a single column. Refuses statements that differ, and a header in which two stand equally often.
 * `head` is the beginning of the file in UTF-8; `skippedBytes` is the length of that first line, which is no row, and `titles` the
 * number of rows above the header.
 */
function findCsvStart(head: Buffer, stated: Delimiter | undefined, shown: string) {
  const line = readSeparatorLine(head);
  const skippedBytes = line?.bytes ?? 0;
  const lines = listFirstLines(head.subarray(skippedBytes));
  const countUnder = (split: Delimiter | RegExp) => countTitles(lines.map(({ text }) => text.split(split)));
  if (line === undefined && stated === undefined) {
    const [first] = listMost(lines[0]);
    const titles = countUnder(first ?? ANY);
    return { ...detectDelimiter(lines[titles], shown), skippedBytes, titles };
  }
  const delimiter = line === undefined ? stated : CANDIDATES.find((candidate) => candidate === line.separator);
  if (delimiter === undefined || (stated !== undefined && stated !== delimiter)) {
    const expected = stated === undefined ? '"," ";" tab or "|"' : `${nameDelimiter(stated)}, as the job states`;
    throw refuse({
      where: `${shown}:1`,
      message: `the first line says that the delimiter is ${JSON.stringify(line?.separator)}, expected ${expected}`,
      hint: 'Remove the first line of the file, or state the `delimiter` that the rows have.',
    });
  }
  const by = line === undefined ? 'as stated' : 'as its first line says';
  const notice = `the delimiter is ${nameDelimiter(delimiter)}, ${by}`;
  return { delimiter, notice, skippedBytes, titles: countUnder(delimiter) };
}

/** Longer than any `sep=` line. */
const SEPARATOR_LINE_BYTES = 32;

function readSeparatorLine(head: Buffer): { separator: string; bytes: number } | undefined {
  const begin = head.toString('latin1', 0, SEPARATOR_LINE_BYTES);
  const [line, separator] = /^"?sep=([^\w\s"]|\t)"?[,;\t| ]*(?:\r\n|\n|\r|$)/i.exec(begin) ?? [];
  return line === undefined || separator === undefined ? undefined : { separator, bytes: line.length };
}

/** The delimiters that stand most often in a line; none where it has none. */
function listMost({ text }: FirstLine = { text: '', number: 1 }): Delimiter[] {
  const countOf = (candidate: Delimiter) => text.split(candidate).length - 1;
  const most = Math.max(...CANDIDATES.map(countOf));
  return most === 0 ? [] : CANDIDATES.filter((candidate) => countOf(candidate) === most);
}

function detectDelimiter(header: FirstLine | undefined, shown: string): { delimiter: Delimiter; notice: string } {
  const [delimiter, other] = listMost(header);
  if (delimiter === undefined)
    return { delimiter: ',', notice: 'the header has one column, so no delimiter was found in it' };
  if (other !== undefined) {
    throw refuse({
      where: `${shown}:${header?.number}`,
      message: `the header has as many ${nameDelimiter(delimiter)} as ${nameDelimiter(other)}, expected one delimiter`,
      hint: 'State its `delimiter` where the job names the file.',
    });
  }
  return { delimiter, notice: `the delimiter is ${nameDelimiter(delimiter)}, found from the header` };
}

/** Names a delimiter for people: a tab cannot be seen. */
function nameDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

const QUOTED = /(?<=^|[,;\t|\r\n])"[^"]*(?:""[^"]*)*"?/g;

interface FirstLine {
  readonly text: string;
  readonly number: number;
}

/** The first lines that are not blank, without the delimiters and line ends that stand in quotes. */
function listFirstLines(head: Buffer): FirstLine[] {
  return head
    .toString('utf8')
    .replace(QUOTED, (quoted) => quoted.replace(/[",;\t|\r\n]/g, ' '))
    .split(/\r\n|\n|\r/)
    .map((text, index) => ({ text, number: index + 1 }))
    .filter(({ text }) => text.replace(/[",;\t|]/g, '').trim() !== '')
    .slice(0, HEADER_ROWS);
}

/** The place columns of CSV outputs in their order, also where a program has put the names in quotes, or other delimiters between them. Case is ignored: changing it changes neither. */
const OWN_HEADER =
  /(?:^(?:\u00ef\u00bb\u00bf)?|[,;\t|])"?_step"?([,;\t|])"?_file"?\1"?_line"?\1"?_row"?(?:\1|\r|\n|$)/i;

/**
 * The delimiter of a CSV that is an output of Volley in UTF-8: it is read so, whatever the job states for the files beside
 * it. Undefined for any other, such as one that a spreadsheet saved in another encoding.
 */
function findOwnDelimiter(source: ByteSource): Promise<Delimiter | undefined> {
  return findInUtf8(source, (head) => OWN_HEADER.exec(head)?.[1] as Delimiter | undefined);
}

/** A row with as many cells as there are columns; one that had too few fields or too many carries a fault. */
export function buildRow(cells: string[], header: Header, line: number): Omit<SourceRecord, 'row'> {
  const fault = cells.length === header.width ? undefined : describeWidth(cells, header);
  while (cells.length < header.width) cells.push('');
  if (cells.length > header.width) cells.length = header.width;
  const { kept, own, delimiter } = header;
  if (kept === undefined || own === undefined) return { cells, line, fault };
  const row = { cells: kept.map((index) => restoreCell(cells[index] ?? '', delimiter)), line, fault };
  return own.id === -1
    ? row
    : { ...row, ownId: fault === undefined ? restoreCell(cells[own.id] ?? '').trim() : HIDDEN_ID };
}

function describeWidth(cells: readonly string[], { width }: Header): Rejection {
  const found = `the row has ${cells.length} ${cells.length === 1 ? 'field' : 'fields'}, expected ${width} as in the header`;
  if (cells.length < width) return { stage: 'read', field: '', code: 'too-few-fields', reason: found };
  const surplus = cells.slice(width).map((cell) => JSON.stringify(cell));
  const advice = isBlankRow(cells.slice(width)) ? '; where each row ends with a delimiter, so must the header' : '';
  const reason = `${found}; surplus: ${surplus.join(', ')}${advice}`;
  return { stage: 'read', field: '', code: 'too-many-fields', reason };
}

/** Whether a row holds nothing: no cell, or only blanks, such as the one that does not break. */
export function isBlankRow(cells: readonly string[]): boolean {
  for (const cell of cells) {
    // Almost every row has text in its first cell: check one character before trimming the cell.
    const first = cell.charCodeAt(0);
    if ((first > SPACE && first < DELETE) || cell.trim() !== '') return false;
  }
  return true;
}

/**
 * Whether a field looks as if a quote that was never closed had taken in whole rows: it spans lines, and cut into
 * lines each has just the delimiters that a row of its own would have.
 */
function looksLikeUnclosedQuote(cells: readonly string[], delimiter: string): boolean {
  const width = cells.length;
  if (width < 2) return false;
  return cells.some((cell, column) => {
    if (countLineEnds(cell) === 0) return false;
    const counts = cell.split(/\r\n|\n|\r/).map((line) => line.split(delimiter).length - 1);
    const last = counts.length - 1;
    return counts.every((count, index) => {
      if (index === 0) return count === width - 1 - column;
      return count === (index === last ? column : width - 1);
    });
  });
}
