import { parse } from 'csv-parse/sync';
import type { RowKind } from '../../src/domain/areas.js';
import { kindOf } from '../../src/kinds/kinds.js';
import { EXAMPLES, type KeptRow, type rowOf } from '../kinds/examples.js';
import type { Kept } from './service.js';
import { Violation } from './violation.js';

/** A row of the input: an invalid one is rejected at plan time, one with a known number is skipped. */
export type Row = ReturnType<typeof rowOf> & { readonly fate: 'planned' | 'invalid' | 'duplicate' };

/** A step of a job, and the rows of its input. */
export type StepWithRows = Readonly<{ number: number; kind: RowKind; rows: readonly Row[] }>;

export const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
export type Output = (typeof OUTPUTS)[number];

/** Where a row stands, and what stands there. */
export type Outcome = Readonly<{ output: Output; cells: Readonly<Record<string, string>> }>;

/** By the number of the row; throws where one stands in two outputs or in none. `read` gives the text of a file of the run. */
export function readOutputs({ number, kind, rows }: StepWithRows, read: (file: string) => string) {
  const found = new Map<number, Outcome>();
  for (const output of OUTPUTS) {
    for (const cells of readCells(read(`${number}-${kind}.${output}.csv`))) {
      const row = Number(cells._row);
      const other = found.get(row)?.output;
      if (other !== undefined) throw new Violation(`step ${number}: row ${row} is in ${other} and in ${output}`);
      found.set(row, { output, cells });
    }
  }
  const lost = rows.findIndex((_, index) => !found.has(index + 1));
  if (lost !== -1 || found.size > rows.length) {
    throw new Violation(`step ${number}: ${found.size} of ${rows.length} rows are accounted for, ${lost + 1} is not`);
  }
  return found;
}

function readCells(text: string): Outcome['cells'][] {
  // The header alone, as most are.
  if (text.indexOf('\n') === text.length - 1) return [];
  const records = parse(text, { columns: true, bom: true, relax_column_count: false }) as Outcome['cells'][];
  // A cell that a spreadsheet would run has an apostrophe in front.
  return records.map((record) =>
    Object.fromEntries(Object.entries(record).map(([name, cell]) => [name, cell.replace(/^'(?=[=+\-@])/, '')])),
  );
}

/** Codes of rows that the service must have refused with an entry in its ledger, or cannot have been asked about. */
const ASKED: Readonly<Record<string, boolean>> = { WAITING: true, 'not-checked': false };

/** Holds a row, as an output has it, to what the service did. */
export function judgeRow({ kind }: StepWithRows, row: Row, { output, cells }: Outcome, kept: Kept): void {
  const { column, isHarmlessTwice = false } = EXAMPLES[kind];
  const key = row[column];
  const fail = (what: string) => new Violation(`row ${cells._row} of ${kind} (${key}) ${what}`);
  const times = kept.timesOf(kind, key);
  const isTaken = kept.isTaken(kind, key);
  if (times > 1 && !isHarmlessTwice) throw fail(`was done ${times} times`);
  if (output === 'results' && !isTaken) throw fail('is accepted, and the service never took it');
  if (output === 'results') judgeResult(row, cells, kept.of(kind, key), { kind, fail });
  if (output === 'rejections' && cells._stage === 'send') {
    if (isTaken) throw fail('is rejected, and the service took it');
    const isAsked = ASKED[cells._code ?? ''];
    if (isAsked !== undefined && isAsked !== times > 0) throw fail(`is ${cells._code}, and was asked ${times} times`);
  }
  if (output === 'unprocessed' && times > 0 && !isHarmlessTwice) throw fail('is unprocessed, and was done');
}

function judgeResult(
  row: Row,
  cells: Outcome['cells'],
  kept: readonly KeptRow[],
  { kind, fail }: { kind: RowKind; fail: (what: string) => Violation },
): void {
  if (cells.name !== row.name || cells.mobile !== row.mobile) throw fail('has the cells of another');
  const id = cells[kindOf({ kind }).resultColumns[0] ?? ''];
  const own = kept.find((one) => id === '' || one.id === id);
  if (own === undefined) throw fail(`has the id ${id}, which is another's`);
  if (own.text !== undefined && own.text !== `Hi ${row.name}`) throw fail(`reads ${own.text}`);
}

/** What the service took is in the results or in doubt; nothing is there that no row asks for. */
export function judgeTaken({ kind, rows }: StepWithRows, outputs: ReadonlyMap<number, Outcome>, kept: Kept): void {
  const { column } = EXAMPLES[kind];
  const accounted = new Set(
    rows.flatMap((row, index) =>
      /^(results|in-doubt)$/.test(outputs.get(index + 1)?.output ?? '') ? [row[column]] : [],
    ),
  );
  const lost = kept.all(kind).find(({ row, isRefusal }) => isRefusal !== true && !accounted.has(row));
  if (lost !== undefined)
    throw new Violation(`${lost.row} of ${kind} was taken, and is neither in the results nor in doubt`);
}
