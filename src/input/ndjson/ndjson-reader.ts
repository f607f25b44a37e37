import { RowWriter } from '../../domain/bytes/row-writer.js';
import { SPACE } from '../../domain/bytes/text-buffer.js';
import { countOf } from '../../domain/count-of.js';
import {
  HIDDEN_ID,
  ID_COLUMN,
  isIgnoredColumn,
  isOwnHeader,
  listOwnColumns,
  PLACE_COLUMNS,
  readNames,
  readOwnName,
  TEXT_COLUMN,
} from '../../domain/output-columns.js';
import type { Cell, Rejection } from '../../domain/row.js';
import { exceedsBytes } from '../../domain/text.js';
import type { Input } from '../../job/job.js';
import type { InputFile } from '../inputs.js';
import { BLOCK_ROWS, FORBIDDEN_NAMES, type ReadBlock, type RecordReader, refuse } from '../record-reader.js';
import { Digest } from '../text/byte-source.js';
import { decodeText, findInUtf8, splitTextLines } from '../text/decode-text.js';
import { parseJsonRow } from './json-row.js';

const UNDERSCORE = 0x5f;
const TILDE = 0x7e;

type NdjsonRow = Parameters<RowWriter['add']>[0];

/**
 * Reads NDJSON: one object a line; blank lines are skipped. Cells hold strings as they are, numbers and booleans as
 * JSON writes them, nested values as JSON text; null, like a key that is not there, is absent. Blanks around a key
 * are ignored, as in a CSV header. A line that is not such an object is a record with a fault, whose text stands in
 * the column `_text`.
 */
export class NdjsonReader implements RecordReader {
  readonly columns: string[] = [];
  readonly notices: string[] = [];
  readonly #file: InputFile;
  readonly #input: Input;
  readonly #digest = new Digest();
  #text: AsyncGenerator<Buffer> | undefined;
  readonly #indexes = new Map<string, number>();
  readonly #ownColumns = new Map<string, readonly string[]>();
  #line = 0;
  #row = 0;
  #ownRows = 0;
  #blankLines = 0;

  constructor(file: InputFile, input: Input) {
    this.#file = file;
    this.#input = input;
  }

  get ownColumns(): readonly (readonly string[])[] {
    return [...this.#ownColumns.values()];
  }

  get sha256(): string {
    return this.#digest.sha256;
  }

  /** There is no header: faults of the file show while it is read. */
  async open(): Promise<void> {}

  async close(): Promise<void> {
    await this.#text?.return(undefined);
  }

  async #openText(): Promise<AsyncGenerator<Buffer>> {
    const { path, shown, key } = this.#file;
    const { encoding, limits } = this.#input;
    const source = { path, shown, key, maxFileBytes: limits.maxFileBytes };
    // An output of Volley is UTF-8, whatever the job states for the files beside it.
    const hasOwnKeys = (head: string) =>
      PLACE_COLUMNS.every((name) => head.includes(JSON.stringify(name))) || undefined;
    const isOwn = encoding !== undefined && (await findInUtf8(source, hasOwnKeys)) === true;
    return decodeText(source, {
      encoding: isOwn ? 'utf-8' : encoding,
      digest: this.#digest,
      onNotice: (notice) => this.notices.push(notice),
    });
  }

  async *blocks(): AsyncGenerator<ReadBlock> {
    const { maxLineBytes } = this.#input.limits;
    let batch: NdjsonRow[] = [];
    this.#text = await this.#openText();
    try {
      for await (const lines of splitTextLines(this.#text, { shown: this.#file.shown, maxLineBytes })) {
        for (const line of lines) {
          this.#line += 1;
          if (line.trim() === '') {
            this.#blankLines += 1;
            continue;
          }
          batch.push(this.#readRow(line));
          if (batch.length < BLOCK_ROWS) continue;
          yield this.#endBlock(batch);
          batch = [];
        }
      }
      if (batch.length > 0) yield this.#endBlock(batch);
      if (this.#blankLines > 0) this.notices.push(`ignored ${countOf(this.#blankLines, 'blank line')}`);
      if (this.#ownRows > 0) this.notices.push('ignored the keys added by Volley');
      if (this.#row === 0) this.notices.push('it holds no rows');
    } finally {
      await this.close();
    }
  }

  /** All rows have the columns that are known by then. Refuses a file in which no line was an object by then: it is another kind of JSON, or none. */
  #endBlock(batch: readonly NdjsonRow[]): ReadBlock {
    const [first] = batch;
    const isNone = ({ fault }: NdjsonRow) => fault?.code === 'bad-json' || fault?.code === 'not-an-object';
    if (first?.fault !== undefined && batch.every(isNone) && this.columns.join() === TEXT_COLUMN) {
      throw refuse({
        where: `${this.#file.shown}:${first.line}`,
        message: first.fault.reason,
        hint: 'No line can be read. Write each row as one object on a line of its own, without a list around them.',
      });
    }
    const writer = new RowWriter(this.columns.length);
    for (const row of batch) writer.add(row);
    return { rows: writer.take() };
  }

  #readRow(text: string): NdjsonRow {
    this.#row += 1;
    const parsed = parseJsonRow(text);
    if (!parsed.ok) return this.#buildFaulty(text, parsed.fault);
    const keys = Object.keys(parsed.values);
    const mayBeOwn = keys.some(mayBeTaken);
    const names = mayBeOwn ? readNames(keys) : keys;
    const isOwn = mayBeOwn && isOwnHeader(names);
    if (isOwn) {
      this.#ownRows += 1;
      const own = listOwnColumns(names);
      this.#ownColumns.set(own.join(), own);
    }
    const fault = mayBeOwn ? findNameFault(names, isOwn) : undefined;
    if (fault !== undefined) return this.#buildFaulty(text, fault);
    const cells = this.#readCells(keys, names, { values: parsed.values, isOwn });
    if (!Array.isArray(cells)) return this.#buildFaulty(text, cells);
    const record = { cells, line: this.#line, row: this.#row, fault: undefined };
    const id = isOwn ? names.indexOf(ID_COLUMN) : -1;
    return id === -1 ? record : { ...record, ownId: (toCell(parsed.values[keys[id] ?? '']) ?? '').trim() };
  }

  /** `names`: the normalized keys. */
  #readCells(
    keys: readonly string[],
    names: readonly string[],
    { values, isOwn }: { values: Readonly<Record<string, unknown>>; isOwn: boolean },
  ): Cell[] | Rejection {
    const { maxFieldBytes } = this.#input.limits;
    const cells: Cell[] = [];
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] ?? '';
      if (isOwn && isIgnoredColumn(name)) continue;
      const cell = toCell(values[keys[at] ?? '']);
      if (cell !== undefined && exceedsBytes(cell, maxFieldBytes)) {
        const reason = `the field is too long, expected at most ${maxFieldBytes} bytes`;
        return { stage: 'read', field: name, code: 'field-too-long', reason };
      }
      const index = this.#indexOf(name);
      if (cell === undefined) continue;
      if (cells[index] !== undefined) return describeRepeated(name);
      cells[index] = cell;
    }
    return cells;
  }

  #buildFaulty(text: string, fault: Rejection): NdjsonRow {
    const index = this.#indexOf(TEXT_COLUMN);
    const cells: Cell[] = [];
    cells[index] = text;
    const record = { cells, line: this.#line, row: this.#row, fault };
    return ID_KEY.test(text) ? { ...record, ownId: HIDDEN_ID } : record;
  }

  #indexOf(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const index = this.columns.length;
    const { maxColumns } = this.#input.limits;
    if (index >= maxColumns) {
      throw refuse({
        where: `${this.#file.shown}:${this.#line}`,
        message: `the lines up to this one have more than ${maxColumns} different keys, expected at most that many`,
        hint: 'Use the same keys in every line, or raise limits.maxColumns where the job names the file.',
      });
    }
    this.columns.push(name);
    this.#indexes.set(name, index);
    return index;
  }
}

/** Finds the key of a row's id in a line that cannot be read: in whatever case, as `foldCase` has it. */
const ID_KEY = /"\s*[_＿]row[iıİ]d\s*"/i;

/** Almost every key begins and ends with a letter: check two characters before trimming. */
function mayBeTaken(name: string): boolean {
  const first = name.charCodeAt(0);
  const last = name.charCodeAt(name.length - 1);
  return first === UNDERSCORE || first <= SPACE || first > TILDE || last <= SPACE || last > TILDE;
}

/** Added columns are matched in any case, so that here two keys may have become one. */
function findNameFault(names: readonly string[], isOwn: boolean): Rejection | undefined {
  const taken = names.find((name) => FORBIDDEN_NAMES.has(name) || (!isOwn && readOwnName(name) !== undefined));
  if (taken !== undefined) return describeTaken(taken);
  const repeated = names.find((name, at) => isIgnoredColumn(name) && names.indexOf(name) !== at);
  return repeated === undefined ? undefined : describeRepeated(repeated);
}

function describeTaken(field: string): Rejection {
  const isOurs = readOwnName(field) !== undefined;
  const reason = `the key ${field} ${isOurs ? 'is a name that Volley adds to its outputs, expected another name' : 'is not allowed'}`;
  return { stage: 'read', field, code: 'forbidden-key', reason };
}

function describeRepeated(field: string): Rejection {
  const reason = `the key ${JSON.stringify(field)} occurs twice, apart from blanks around it or its case, expected once`;
  return { stage: 'read', field, code: 'duplicate-key', reason };
}

function toCell(value: unknown): Cell {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
