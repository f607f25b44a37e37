import { join } from 'node:path';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import { discarding } from '../domain/closing.js';
import { listNotReplaced, PLACE_COLUMNS, RECEIPT_COLUMNS } from '../domain/output-columns.js';
import { joinColumns, spreadCells } from '../plan/bind-columns.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { type Billed, createBilledTally } from '../prices/billed-tally.js';
import { formatDecimal } from '../prices/decimal.js';
import type { Files } from '../storage/files.js';
import type { Receipt, Receipts } from './delivery-receipts.js';
import { createLineFormat, createOutputFile } from './output-format.js';

/** Rows gathered before their receipts are read, in the order of the file. */
const ROWS_AT_ONCE = 10_000;

export interface Deliveries {
  /** Messages by the state of their newest receipt. */
  readonly counts: Record<string, number>;
  /** By the number of the step. */
  readonly billed: ReadonlyMap<number, Billed>;
}

/**
 * Writes `deliveries.csv` (or `.ndjson`, `.xlsx`) of a run whole: one row for each message that has a receipt, in the order of the
 * input. The original columns are those of all steps that send messages, joined by name.
 */
export async function writeDeliveries(
  files: Files,
  { plan, directory, receipts }: { plan: Plan; directory: string; receipts: Receipts },
): Promise<Deliveries> {
  const steps = plan.steps.filter(({ kind }) => kind === 'sms');
  const { columns, maps } = joinColumns(steps.map((step) => step.columns));
  const added = [...PLACE_COLUMNS, ...RECEIPT_COLUMNS];
  const kept = listNotReplaced(columns, added);
  const lines = createLineFormat(plan.job.output, [...added, ...kept.map((index) => columns[index] ?? '')]);
  const path = join(directory, `deliveries.${plan.job.output.format}`);
  await using file = discarding(await createOutputFile(files, path, plan.job.output));
  const text = new TextBuffer();
  const counts: Deliveries['counts'] = {};
  const billed = new Map<number, Billed>();
  text.append(lines.header);
  for (const [at, step] of steps.entries()) {
    const tally = createBilledTally(step.cost);
    for await (const batch of readReceived(files, directory, { step, receipts })) {
      for (const { row, receipt } of batch) {
        if (receipt === undefined) continue;
        counts[receipt.state] = (counts[receipt.state] ?? 0) + 1;
        tally.add(receipt, plannedOf(row));
        const map = (step.inputs[row.file]?.columnMap ?? []).map((column) => maps[at]?.[column] ?? column);
        const cells = spreadCells(row.cells, map, columns.length);
        const original = kept.map((index) => cells[index]);
        text.append(lines.line([...describePlace(row, step), ...describe(receipt), ...original]));
      }
      await text.flush((bytes) => file.write(bytes));
    }
    const figures = tally.figures();
    if (figures !== undefined) billed.set(step.number, figures);
  }
  await text.flush((bytes) => file.write(bytes));
  await file.finish();
  const sorted = Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1));
  return { counts: Object.fromEntries(sorted), billed };
}

/** The planned rows of a step that have a receipt, in their order, so many at once. */
async function* readReceived(
  files: Files,
  directory: string,
  { step, receipts }: { step: PlannedStep; receipts: Receipts },
): AsyncGenerator<{ row: RowLine; receipt: Receipt | undefined }[]> {
  const waiting = new Map<number, RowLine>();
  const read = async () => {
    const found = await receipts.receiptsOf(step.number, [...waiting.keys()]);
    const rows = [...waiting].map(([index, row]) => ({ row, receipt: found.get(index) }));
    waiting.clear();
    return rows;
  };
  for await (const { index, row } of readPlannedRows(files, directory, step)) {
    if (receipts.has(step.number, index)) waiting.set(index, row);
    if (waiting.size >= ROWS_AT_ONCE) yield await read();
  }
  yield await read();
}

function describePlace({ file, line, row }: RowLine, step: PlannedStep): (string | number)[] {
  return [step.number, step.inputs[file]?.file ?? '', line, row];
}

function describe({ umid, state, detail, errorCode, errorMessage, time, parts, price }: Receipt): (string | number)[] {
  const cost = price === undefined ? ['', ''] : [formatDecimal(price.total), price.currency];
  return [umid, state, detail, errorCode, errorMessage, time, parts ?? '', ...cost];
}

/** What the plan says of a message: its facts are the number and its parts. */
function plannedOf(row: RowLine): { parts: number; costGroup: number | undefined } {
  if (row.state !== 'planned') return { parts: 0, costGroup: undefined };
  return { parts: Number(row.facts[1] ?? 0), costGroup: row.costGroup };
}
