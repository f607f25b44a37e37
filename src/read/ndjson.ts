import type { Cell, Rejection } from '../domain.js';
import type { Input } from '../job/job.js';
import { HIDDEN_ID, ID_COLUMN, isOwnColumn, isOwnHeader, listOwnColumns, TEXT_COLUMN } from './columns.js';
import { Digest } from './digest.js';
import type { InputFile } from './inputs.js';
import { parseJsonRow } from './json-row.js';
import { splitLines } from './lines.js';
import { BATCH_RECORDS, FORBIDDEN_NAMES, type ReadRecord, type RecordReader } from './reader.js';
import { refuse } from './refusal.js';
import { readText } from './text.js';

const SPACE = 0x20;
const UNDERSCORE = 0x5f;
const TILDE = 0x7e;

/**
 * Reads NDJSON: one object a line; blank lines are passed over. Cells hold strings as they are, numbers and booleans
 * as JSON writes them, nested values as JSON text; null, like a key that is not there, is undefined. Blanks around a key count no
 * more than around a name in a CSV header.
 * A line that is no such object is a record with a fault, whose text stands in the column `_text`.
 */
export class NdjsonReader implements RecordReader {
  readonly notices: string[] = [];
  readonly #file: InputFile;
  readonly #input: Input;
  readonly #digest = new Digest();
  readonly #text: AsyncGenerator<Buffer>;
  readonly #columns: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #ownColumns = new Map<string, readonly string[]>();
  #line = 0;
  #row = 0;
  #ownRows = 0;
  #blankLines = 0;

  constructor(file: InputFile, input: Input) {
    this.#file = file;
    this.#input = input;
    this.#text = readText(
      { path: file.path, shown: file.shown, maxFileBytes: input.limits.maxFileBytes },
      { encoding: input.encoding, digest: this.#digest, onNotice: (notice) => this.notices.push(notice) },
    );
  }

  get columns(): readonly string[] {
    return this.#columns;
  }

  get ownColumns(): readonly (readonly string[])[] {
    return [...this.#ownColumns.values()];
  }

  get sha256(): string {
    return this.#digest.sha256;
  }

  get bytes(): number {
    return this.#digest.bytes;
  }

  /** There is no header: what is wrong with the file comes out while it is read. */
  async open(): Promise<void> {}

  async close(): Promise<void> {
    await this.#text.return(undefined);
  }

  async *batches(): AsyncGenerator<readonly ReadRecord[]> {
    const { maxLineBytes } = this.#input.limits;
    let batch: ReadRecord[] = [];
    try {
      for await (const lines of splitLines(this.#text, { shown: this.#file.shown, maxLineBytes })) {
        for (const line of lines) {
          this.#line += 1;
          if (line.trim() === '') {
            this.#blankLines += 1;
            continue;
          }
          batch.push(this.#readRow(line));
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

  #readRow(text: string): ReadRecord {
    this.#row += 1;
    const parsed = parseJsonRow(text);
    if (!parsed.ok) return this.#buildFaulty(text, parsed.fault);
    const names = Object.keys(parsed.values);
    const isOwn = names.length >= 4 && isOwnHeader(names);
    if (isOwn) this.#noteOwn(names);
    const taken = names.find((name) => mayBeTaken(name) && isTaken(name.trim(), isOwn));
    if (taken !== undefined) return this.#buildFaulty(text, describeTaken(taken.trim()));
    const cells: Cell[] = new Array(this.#columns.length).fill(undefined);
    for (const name of names) {
      if (isOwn && isOwnColumn(name)) continue;
      const cell = toCell(parsed.values[name]);
      if (cell !== undefined && this.#isTooLong(cell)) return this.#buildFaulty(text, this.#describeLong(name));
      const index = this.#indexOf(name);
      if (cell === undefined) continue;
      if (cells[index] !== undefined) return this.#buildFaulty(text, describeRepeated(name.trim()));
      cells[index] = cell;
    }
    const record = { cells, line: this.#line, row: this.#row, fault: undefined };
    return isOwn && names.includes(ID_COLUMN) ? { ...record, ownId: readId(parsed.values[ID_COLUMN]) } : record;
  }

  #noteOwn(names: readonly string[]): void {
    this.#ownRows += 1;
    const own = listOwnColumns(names);
    this.#ownColumns.set(own.join(), own);
  }

  #buildFaulty(text: string, fault: Rejection): ReadRecord {
    const index = this.#indexOf(TEXT_COLUMN);
    const cells: Cell[] = new Array(this.#columns.length).fill(undefined);
    cells[index] = text;
    const record = { cells, line: this.#line, row: this.#row, fault };
    return text.includes(`"${ID_COLUMN}"`) ? { ...record, ownId: HIDDEN_ID } : record;
  }

  #isTooLong(cell: string): boolean {
    const { maxFieldBytes } = this.#input.limits;
    return cell.length * 3 > maxFieldBytes && Buffer.byteLength(cell) > maxFieldBytes;
  }

  #describeLong(field: string): Rejection {
    const reason = `the field is too long, expected at most ${this.#input.limits.maxFieldBytes} bytes`;
    return { stage: 'read', field, code: 'field-too-long', reason };
  }

  #indexOf(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const trimmed = name.trim();
    if (trimmed !== name) return this.#indexOf(trimmed);
    const index = this.#columns.length;
    const { maxColumns } = this.#input.limits;
    if (index >= maxColumns) {
      throw refuse({
        where: `${this.#file.shown}:${this.#line}`,
        message: `the lines up to this one have more than ${maxColumns} different keys, expected at most that many`,
        hint: 'Use the same keys in every line, or raise limits.maxColumns of the input.',
      });
    }
    this.#columns.push(name);
    this.#indexes.set(name, index);
    return index;
  }

  #noticeEnd(): void {
    if (this.#blankLines > 0) this.notices.push(`${this.#blankLines} blank lines were passed over`);
    if (this.#ownRows > 0) this.notices.push('it is a file of ours: the keys that we added are left out');
    if (this.#row === 0) this.notices.push('it holds no rows');
  }
}

/** Almost every key begins with a letter and ends with one: two characters are looked at before it is trimmed. */
function mayBeTaken(name: string): boolean {
  const first = name.charCodeAt(0);
  const last = name.charCodeAt(name.length - 1);
  return first === UNDERSCORE || first <= SPACE || first > TILDE || last <= SPACE || last > TILDE;
}

function isTaken(name: string, isOwn: boolean): boolean {
  return FORBIDDEN_NAMES.has(name) || (!isOwn && isOwnColumn(name));
}

function describeTaken(field: string): Rejection {
  const what = isOwnColumn(field) ? 'is one that our outputs add, expected another name' : 'is not allowed';
  const reason = `the key ${field} ${what}`;
  return { stage: 'read', field, code: 'forbidden-key', reason };
}

function describeRepeated(field: string): Rejection {
  const reason = `the key ${JSON.stringify(field)} stands twice but for blanks around it, expected once`;
  return { stage: 'read', field, code: 'duplicate-key', reason };
}

function readId(value: unknown): string {
  return (toCell(value) ?? '').trim();
}

function toCell(value: unknown): Cell {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
