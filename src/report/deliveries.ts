import { join } from 'node:path';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import { listNotReplaced, PLACE_COLUMNS, RECEIPT_COLUMNS } from '../domain/output-columns.js';
import { joinColumns } from '../plan/columns/join-columns.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import { type Billed, BilledTally } from '../prices/billed-tally.js';
import { formatDecimal } from '../prices/decimal.js';
import type { Files, WholeFile } from '../storage/files.js';
import { createLineFormat, createOutputFile, type LineFormat } from './output-format.js';
import type { Receipt } from './receipt.js';
import type { Receipts } from './receipt-index.js';

/** Rows gathered before their receipts are read, in the order of the file. */
const ROWS_AT_ONCE = 10_000;

/** Messages by the state of their newest receipt. */
export type DeliveryCounts = Record<string, number>;

export interface Deliveries {
  readonly counts: DeliveryCounts;
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
  const { columns, maps } = joinColumns(
    steps.map((step) => step.columns),
    () => undefined,
  );
  const added = [...PLACE_COLUMNS, ...RECEIPT_COLUMNS];
  const kept = listNotReplaced(columns, added);
  const lines = createLineFormat(plan.job.output, [...added, ...kept.map((index) => columns[index] ?? '')]);
  const file = await createOutputFile(files, join(directory, `deliveries.${plan.job.output.format}`), plan.job.output);
  try {
    const output: Output = { file, lines, text: new TextBuffer(), counts: {}, width: columns.length, kept };
    const billed = new Map<number, Billed>();
    output.text.append(lines.header);
    for (const [at, step] of steps.entries()) {
      const tally = new BilledTally(step.cost);
      await writeStep(output, { files, directory, receipts, step, columnMap: maps[at] ?? [], tally });
      const figures = tally.figures();
      if (figures !== undefined) billed.set(step.number, figures);
    }
    await output.text.flush((bytes) => file.write(bytes));
    await file.finish();
    const sorted = Object.entries(output.counts).sort(([one], [other]) => (one < other ? -1 : 1));
    return { counts: Object.fromEntries(sorted), billed };
  } catch (error) {
    await file.discard().catch(() => {});
    throw error;
  }
}

interface Output {
  readonly file: WholeFile;
  readonly lines: LineFormat;
  readonly text: TextBuffer;
  readonly counts: DeliveryCounts;
  /** Number of original columns, and those of them that stand in it. */
  readonly width: number;
  readonly kept: readonly number[];
}

interface StepSource {
  readonly files: Files;
  readonly directory: string;
  readonly receipts: Receipts;
  readonly step: PlannedStep;
  /** Position of the step's columns among those of the output. */
  readonly columnMap: readonly number[];
  readonly tally: BilledTally;
}

async function writeStep(output: Output, source: StepSource): Promise<void> {
  const { files, directory, receipts, step } = source;
  let waiting = new Map<number, RowLine>();
  for await (const { index, row } of readPlannedRows(files, directory, step)) {
    if (receipts.has(step.number, index)) waiting.set(index, row);
    if (waiting.size < ROWS_AT_ONCE) continue;
    await writeRows(output, source, waiting);
    waiting = new Map();
  }
  await writeRows(output, source, waiting);
}

async function writeRows(output: Output, source: StepSource, rows: ReadonlyMap<number, RowLine>): Promise<void> {
  const found = await source.receipts.receiptsOf(source.step.number, [...rows.keys()]);
  for (const [at, row] of [...rows.values()].entries()) {
    const receipt = found[at];
    if (receipt === undefined) continue;
    output.counts[receipt.state] = (output.counts[receipt.state] ?? 0) + 1;
    source.tally.add(receipt, plannedOf(row));
    output.text.append(output.lines.line([...describePlace(row, source.step), ...describe(receipt), ...spread(row)]));
  }
  await output.text.flush((bytes) => output.file.write(bytes));

  function spread(row: RowLine): RowLine['cells'] {
    const cells: (string | undefined)[] = new Array(output.width).fill(undefined);
    const map = source.step.inputs[row.file]?.columnMap ?? [];
    for (const [index, column] of map.entries()) cells[source.columnMap[column] ?? column] = row.cells[index];
    return output.kept.map((index) => cells[index]);
  }
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
