import { listRecords, type RowBlock } from '../../domain/bytes/row-block.js';
import { RowWriter } from '../../domain/bytes/row-writer.js';
import { countOf } from '../../domain/count-of.js';
import { bindDrafts } from '../../filter/filter-rows.js';
import type { Input, RowStep } from '../../job/job.js';
import type { DraftRow } from '../../kinds/step-kind.js';
import { Digest } from '../digest-input.js';
import { draftBlock } from '../fast/draft-block.js';
import { type Header, readHeader } from '../header.js';
import type { InputFile } from '../inputs.js';
import { findColumn } from '../own-columns.js';
import { findOwnDelimiter } from '../own-file.js';
import { BATCH_RECORDS, type DraftedBlock, type InputRecord, type RecordReader } from '../record-reader.js';
import { refuse } from '../refusal.js';
import { decodeText } from '../text/decode-text.js';
import { refuseLongField, refuseLongRow, refuseRow } from './csv-error.js';
import type { RawRows } from './csv-parser.js';
import { buildRow, isBlankRow, looksLikeUnclosedQuote } from './csv-row.js';
import { CsvRows } from './csv-rows.js';
import { type Delimiter, findCsvStart, isHeaderWhole } from './delimiter.js';

/** Most bytes of a header that are searched for the delimiter. */
const HEAD_BYTES = 256 * 1024;
/** Bytes that the parser may hold back at the end of a piece. */
const HELD_BACK_BYTES = 16;

/** Blocks of long rows have fewer of them: some blocks are read ahead, and each may become one string. */
const BLOCK_BYTES = 4 * 1024 * 1024;

/** A row as strings, as many as it has. */
interface TextRow {
  readonly cells: string[];
  readonly line: number;
  /** Whether it spans several lines. */
  readonly isSpanning: boolean;
}

/** Reads a CSV file: a faulty row becomes a rejection, a fault that makes all rows doubtful refuses the file. */
export class CsvReader implements RecordReader {
  readonly #file: InputFile;
  #input: Input;
  readonly #digest = new Digest();
  #text: AsyncGenerator<Buffer> | undefined;
  readonly #notices: string[] = [];
  #opened: Promise<Header> | undefined;
  #columns: readonly string[] = [];
  #ownColumns: readonly (readonly string[])[] = [];
  #delimiter: Delimiter = ',';
  #rows: CsvRows | undefined;
  /** Rows of csv-parse, of which the first so many are taken. */
  #parsed: RawRows = { rows: [], lines: [], spanning: new Set() };
  #taken = 0;
  #isEnded = false;
  #row = 0;
  #blankRows = 0;
  #swallowing: number[] = [];

  constructor(file: InputFile, input: Input) {
    this.#file = file;
    this.#input = input;
  }

  get columns(): readonly string[] {
    return this.#columns;
  }

  get ownColumns(): readonly (readonly string[])[] {
    return this.#ownColumns;
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  get delimiter(): Delimiter {
    return this.#delimiter;
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

  async *batches(): AsyncGenerator<readonly InputRecord[]> {
    for await (const block of this.blocks()) yield listRecords(block);
  }

  /** The rows drafted as a step plans them; undefined where they cannot be. To be called when it is open, in place of `batches`. */
  draftedBlocks(step: RowStep): AsyncIterable<DraftedBlock> | undefined {
    const draftRow = this.#ownColumns.length === 0 ? bindDrafts(step, this.#columns, findColumn) : undefined;
    return draftRow && this.#draftBlocks(draftRow);
  }

  async *#draftBlocks(draftRow: DraftRow): AsyncGenerator<DraftedBlock> {
    for await (const rows of this.blocks()) yield { rows, drafts: draftBlock(rows, draftRow) };
  }

  /** The same rows as bytes; in place of `batches`. */
  async *blocks(): AsyncGenerator<RowBlock> {
    this.#opened ??= this.#readToHeader();
    const header = await this.#opened;
    const writer = new RowWriter(header.columns.length);
    try {
      do {
        for (let line = this.#rows?.cut(writer); line !== undefined; line = this.#rows?.cut(writer)) {
          if (header.own === undefined && writer.isPlain) writer.keep(line);
          else this.#addRow({ cells: writer.takeBack(), line, isSpanning: false }, header, writer);
          if (isFull(writer)) yield this.#endBlock(writer);
        }
        await this.#parse();
        for (let row = this.#takeParsed(); row !== undefined; row = this.#takeParsed()) {
          this.#addRow(row, header, writer);
          if (isFull(writer)) yield this.#endBlock(writer);
        }
      } while (await this.#readPiece());
      if (writer.count > 0) yield this.#endBlock(writer);
      this.#noticeEnd();
    } finally {
      await this.close();
    }
  }

  #addRow({ cells, line, isSpanning }: TextRow, header: Header, writer: RowWriter): void {
    if (isBlankRow(cells)) {
      this.#blankRows += 1;
      return;
    }
    if (isSpanning && looksLikeUnclosedQuote(cells, this.#delimiter)) this.#swallowing.push(line);
    if (cells.length > this.#input.limits.maxColumns) throw refuseLongRow(this.#where(line), this.#input.limits);
    writer.add(buildRow(cells, header, line));
  }

  #endBlock(writer: RowWriter): RowBlock {
    const firstRow = this.#row + 1;
    this.#row += writer.count;
    return writer.take(firstRow);
  }

  async #readToHeader(): Promise<Header> {
    const { path, shown, key } = this.#file;
    const source = { path, shown, key, maxFileBytes: this.#input.limits.maxFileBytes };
    const isStated = this.#input.encoding !== undefined || this.#input.delimiter !== undefined;
    const delimiter = isStated ? await findOwnDelimiter(source) : undefined;
    if (delimiter !== undefined) this.#input = { ...this.#input, encoding: 'utf-8', delimiter };
    this.#text = decodeText(source, {
      encoding: this.#input.encoding,
      digest: this.#digest,
      onNotice: (notice) => this.#notices.push(notice),
    });
    try {
      const head = await this.#takeHead(this.#text);
      const start = findCsvStart(head, this.#input.delimiter, shown);
      this.#notices.push(start.notice);
      this.#delimiter = start.delimiter;
      this.#rows = new CsvRows(start.delimiter, this.#input.limits, start.skippedBytes === 0 ? 1 : 2);
      await this.#give(head.subarray(start.skippedBytes));
      const { cells, line } = await this.#findHeader();
      return this.#readHeader(cells, line);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #findHeader(): Promise<{ cells: string[]; line: number }> {
    const writer = new RowWriter(0);
    do {
      for (let line = this.#rows?.cut(writer); line !== undefined; line = this.#rows?.cut(writer)) {
        const cells = writer.takeBack();
        if (!isBlankRow(cells)) return { cells, line };
        this.#blankRows += 1;
      }
      await this.#parse();
      for (let row = this.#takeParsed(); row !== undefined; row = this.#takeParsed()) {
        if (!isBlankRow(row.cells)) return row;
        this.#blankRows += 1;
      }
    } while (await this.#readPiece());
    throw refuse({ where: this.#file.shown, message: 'it holds only blank lines, expected at least a header' });
  }

  #readHeader(cells: readonly string[], line: number): Header {
    const header = readHeader(cells, {
      where: this.#where(line),
      maxColumns: this.#input.limits.maxColumns,
      delimiter: this.#delimiter,
    });
    this.#columns = header.columns;
    this.#ownColumns = header.own === undefined ? [] : [header.own.columns];
    this.#notices.push(...header.notices);
    return header;
  }

  async #takeHead(text: AsyncGenerator<Buffer>): Promise<Buffer> {
    let head = Buffer.alloc(0);
    while (head.length < HEAD_BYTES && !isHeaderWhole(head)) {
      const next = await text.next();
      if (next.done === true) break;
      head = Buffer.concat([head, next.value]);
    }
    return head;
  }

  /** False when the file has ended. */
  async #readPiece(): Promise<boolean> {
    if (this.#isEnded || this.#text === undefined) return false;
    const next = await this.#text.next();
    this.#isEnded = next.done === true;
    await this.#give(next.done === true ? undefined : next.value);
    return true;
  }

  async #give(piece: Buffer | undefined): Promise<void> {
    await this.#refuseErrors(async (rows) => (piece === undefined ? rows.end() : rows.give(piece)));
  }

  /** Takes the rows that only csv-parse can read. */
  async #parse(): Promise<void> {
    await this.#refuseErrors(async (rows) => {
      const parsed = await rows.parse();
      if (parsed.rows.length === 0) return;
      this.#parsed = parsed;
      this.#taken = 0;
    });
  }

  #takeParsed(): TextRow | undefined {
    const { rows, lines, spanning } = this.#parsed;
    const index = this.#taken;
    const cells = rows[index];
    if (cells === undefined) return undefined;
    this.#taken += 1;
    return { cells, line: lines[index] ?? 0, isSpanning: spanning.has(index) };
  }

  async #refuseErrors(read: (rows: CsvRows) => Promise<void>): Promise<void> {
    const rows = this.#rows;
    if (rows === undefined) return;
    const { limits } = this.#input;
    try {
      await read(rows);
    } catch (error) {
      throw refuseRow(error, this.#where(rows.openLine), limits);
    }
    if (rows.openBytes > limits.maxLineBytes + HELD_BACK_BYTES) throw refuseLongRow(this.#where(rows.openLine), limits);
    const { longField } = rows;
    if (longField !== undefined) throw refuseLongField(this.#where(longField.line), longField.index, limits);
  }

  #where(line: number): string {
    return `${this.#file.shown}:${line}`;
  }

  #noticeEnd(): void {
    const blank = this.#blankRows + (this.#rows?.blankLines ?? 0);
    if (blank > 0) this.#notices.push(`ignored ${countOf(blank, 'blank line')}`);
    if (this.#row === 0) this.#notices.push('it holds a header and no rows');
    const [first] = this.#swallowing;
    if (first === undefined) return;
    const more = this.#swallowing.length > 1 ? ` (and ${this.#swallowing.length - 1} more)` : '';
    this.#notices.push(
      `the row on line ${first}${more} holds a field of several lines that look like rows of their own: a quote may be missing`,
    );
  }
}

function isFull({ count, bytes }: RowWriter): boolean {
  return count === BATCH_RECORDS || bytes >= BLOCK_BYTES;
}
