import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { listRecords } from '../../src/domain/bytes/row-block.js';
import { UserError } from '../../src/domain/errors.js';
import type { Cell, SourceRecord } from '../../src/domain/row.js';
import type { InputFile } from '../../src/input/inputs.js';
import { readRecords } from '../../src/input/read-records.js';
import type { Input, ReadLimits } from '../../src/job/job.js';

/** A directory of its own for the files of a test file. */
export function aDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'volley-read-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function anInput({ limits, ...input }: Partial<Omit<Input, 'limits'>> & { limits?: Partial<ReadLimits> } = {}) {
  return {
    files: [],
    format: undefined,
    encoding: undefined,
    delimiter: undefined,
    country: undefined,
    countryColumn: undefined,
    ...input,
    limits: { maxFieldBytes: 1 << 20, maxColumns: 1000, maxLineBytes: 1 << 24, maxFileBytes: 1 << 30, ...limits },
  };
}

let count = 0;

/** Writes a file to read; the text goes in as UTF-8. */
export function aFile(directory: string, content: string | Uint8Array, shown = 'people.csv'): InputFile {
  count += 1;
  const path = join(directory, `${count}-${shown}`);
  writeFileSync(path, content);
  const format = shown.endsWith('.xlsx') ? 'xlsx' : shown.includes('.ndjson') ? 'ndjson' : 'csv';
  return { path, shown, format };
}

export const aGzip = (text: string) => gzipSync(text);

/** Cells that a row lacks are undefined. */
type ReadRecord = Omit<SourceRecord, 'cells'> & { readonly cells: readonly Cell[] };

/** Reads a file to its end. */
export async function readWhole(file: InputFile, input: Input = anInput()) {
  const reader = readRecords(file, input);
  await reader.open();
  const records: ReadRecord[] = [];
  for await (const { rows } of reader.blocks()) {
    const isAbsent = (row: number, column: number) => rows.absent.has(row * rows.width + column);
    for (const [row, record] of listRecords(rows).entries()) {
      const cells = record.cells.map((cell, column) => (isAbsent(row, column) ? undefined : cell));
      records.push(withoutUndefined({ ...record, cells }));
    }
  }
  return {
    reader,
    columns: reader.columns,
    records,
    cells: records.map((record) => record.cells),
    lines: records.map((record) => record.line),
    faults: records.map((record) => record.fault?.code),
    notices: reader.notices,
  };
}

/** The problems that a refused file is refused for, each as `where: message`; a file that is read is an error here. */
export async function readRefused(file: InputFile, input: Input = anInput()): Promise<string[]> {
  return refusalOf(readWhole(file, input));
}

export async function refusalOf(task: Promise<unknown>): Promise<string[]> {
  const error = await task.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UserError)) throw new Error(`expected a refusal, got ${String(error)}`);
  if (error.code !== 'bad-input') throw new Error(`expected bad-input, got ${error.code}`);
  return error.problems.map(({ where, message }) => `${where}: ${message}`);
}

/** An id only where there is one. */
function withoutUndefined({ cells, line, row, fault, ownId }: ReadRecord): ReadRecord {
  return { cells, line, row, fault, ...(ownId === undefined ? {} : { ownId }) };
}
