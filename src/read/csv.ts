import type { Input } from '../job/job.js';
import { refuseLongField, refuseLongRow, refuseRow } from './csv-error.js';
import type { RawRows } from './csv-parser.js';
import { buildRecord, isBlankRow, looksSwallowed } from './csv-row.js';
import { CsvRows } from './csv-rows.js';
import { type Delimiter, detectDelimiter, isHeaderWhole, nameDelimiter } from './delimiter.js';
import { Digest } from './digest.js';
import { type Header, readHeader } from './header.js';
import type { InputFile } from './inputs.js';
import { isOwnOutput } from './own-file.js';
import { BATCH_RECORDS, type ReadRecord, type RecordReader } from './reader.js';
import { refuse } from './refusal.js';
import { readText } from './text.js';

/** Bytes of the file that are looked at for the delimiter when the header goes on for longer. */
const HEAD_BYTES = 256 * 1024;
/** Bytes that the parser may hold back at the end of a piece. */
const HELD_BACK_BYTES = 16;

/** Reads a CSV file: what is wrong with one row is its fault, what makes the rows doubtful refuses the file. */
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
  #parser: CsvRows | undefined;
  /** Rows that were read together with the header. */
  #waiting: RawRows | undefined;
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

  get sha256(): string {
    return this.#digest.sha256;
  }

  get bytes(): number {
    return this.#digest.bytes;
  }

  async open(): Promise<void> {
    this.#opened ??= this.#readToHeader();
    await this.#opened;
  }

  async close(): Promise<void> {
    await this.#text?.return(undefined);
  }

  async *batches(): AsyncGenerator<readonly ReadRecord[]> {
    this.#opened ??= this.#readToHeader();
    const header = await this.#opened;
    let batch: ReadRecord[] = [];
    try {
      for (let raw: RawRows | undefined = this.#waiting; raw !== undefined; raw = await this.#readRows()) {
        for (let index = 0; index < raw.rows.length; index += 1) {
          const cells = raw.rows[index] as string[];
          const line = raw.lines[index] ?? 0;
          if (isBlankRow(cells)) {
            this.#blankRows += 1;
            continue;
          }
          if (raw.spanning.has(index) && looksSwallowed(cells, this.#delimiter)) this.#swallowing.push(line);
          batch.push(this.#buildRecord(cells, header, line));
          if (batch.length < BATCH_RECORDS) continue;
          yield batch;
          batch = [];
        }
      }
      if (batch.length > 0) yield batch;
      this.#noticeEnd();
    } finally {
      await this.close();
    }
  }

  #buildRecord(cells: string[], header: Header, line: number): ReadRecord {
    if (cells.length > this.#input.limits.maxColumns) throw refuseLongRow(this.#where(line), this.#input.limits);
    this.#row += 1;
    return buildRecord(cells, header, { line, row: this.#row });
  }

  async #readToHeader(): Promise<Header> {
    const { path, shown } = this.#file;
    const source = { path, shown, maxFileBytes: this.#input.limits.maxFileBytes };
    const isStated = this.#input.encoding !== undefined || this.#input.delimiter !== undefined;
    if (isStated && (await isOwnOutput(source))) this.#input = { ...this.#input, encoding: 'utf-8', delimiter: ',' };
    this.#text = readText(source, {
      encoding: this.#input.encoding,
      digest: this.#digest,
      onNotice: (notice) => this.#notices.push(notice),
    });
    try {
      const head = await this.#takeHead(this.#text);
      this.#delimiter = this.#chooseDelimiter(head);
      this.#parser = new CsvRows(this.#delimiter, this.#input.limits);
      await this.#parse(head);
      for (let raw: RawRows | undefined = this.#takeRows(); raw !== undefined; raw = await this.#readRows()) {
        const index = raw.rows.findIndex((cells) => !isBlankRow(cells));
        if (index === -1) {
          this.#blankRows += raw.rows.length;
          continue;
        }
        this.#blankRows += index;
        this.#waiting = dropRows(raw, index + 1);
        return this.#readHeader(raw.rows[index] ?? [], raw.lines[index] ?? 1);
      }
      throw refuse({ where: this.#file.shown, message: 'it holds only blank lines, expected at least a header' });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #readHeader(cells: readonly string[], line: number): Header {
    const header = readHeader(cells, { where: this.#where(line), maxColumns: this.#input.limits.maxColumns });
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

  #chooseDelimiter(head: Buffer): Delimiter {
    const stated = this.#input.delimiter;
    const { delimiter, notice } =
      stated === undefined
        ? detectDelimiter(head, this.#file.shown)
        : { delimiter: stated, notice: `the delimiter is ${nameDelimiter(stated)}, as stated` };
    this.#notices.push(notice);
    return delimiter;
  }

  /** The rows of the next piece; undefined when the file has ended. */
  async #readRows(): Promise<RawRows | undefined> {
    if (this.#isEnded || this.#text === undefined) return undefined;
    const next = await this.#text.next();
    this.#isEnded = next.done === true;
    await this.#parse(next.done === true ? undefined : next.value);
    return this.#takeRows();
  }

  #takeRows(): RawRows | undefined {
    return this.#parser?.takeRows();
  }

  async #parse(piece: Buffer | undefined): Promise<void> {
    const parser = this.#parser;
    if (parser === undefined) return;
    const { limits } = this.#input;
    try {
      await (piece === undefined ? parser.parseEnd() : parser.parsePiece(piece));
    } catch (error) {
      throw refuseRow(error, this.#where(parser.openLine), limits);
    }
    if (parser.openBytes > limits.maxLineBytes + HELD_BACK_BYTES) {
      throw refuseLongRow(this.#where(parser.openLine), limits);
    }
    const { longField } = parser;
    if (longField !== undefined) throw refuseLongField(this.#where(longField.line), longField.index, limits);
  }

  #where(line: number): string {
    return `${this.#file.shown}:${line}`;
  }

  #noticeEnd(): void {
    const blank = this.#blankRows + (this.#parser?.blankLines ?? 0);
    if (blank > 0) this.#notices.push(`${blank} blank lines were passed over`);
    if (this.#row === 0) this.#notices.push('it holds a header and no rows');
    const [first] = this.#swallowing;
    if (first === undefined) return;
    const more = this.#swallowing.length > 1 ? ` (and ${this.#swallowing.length - 1} more)` : '';
    this.#notices.push(
      `the row on line ${first}${more} holds a field of several lines that look like rows of their own: a quote may be missing`,
    );
  }
}

function dropRows({ rows, lines, spanning }: RawRows, count: number): RawRows {
  const left = [...spanning].flatMap((index) => (index < count ? [] : [index - count]));
  return { rows: rows.slice(count), lines: lines.slice(count), spanning: new Set(left) };
}
