import { join } from 'node:path';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import { listNotReplaced, PLACE_COLUMNS, RECEIPT_COLUMNS } from '../domain/output-columns.js';
import { joinColumns } from '../plan/columns/join-columns.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import type { Files, WholeFile } from '../storage/files.js';
import { createLineFormat, type LineFormat } from './output-format.js';
import type { Receipt } from './receipt.js';
import type { Receipts } from './receipt-index.js';

/** Rows gathered before their receipts are read, in the order of the file. */
const ROWS_AT_ONCE = 10_000;

/** Messages by the state of their newest receipt. */
export type DeliveryCounts = Record<string, number>;

/**
 * Writes `deliveries.csv` (or `.ndjson`) of a run whole: one row for each message that has a receipt, in the order of the
 * input. The original columns are those of all steps that send messages, joined by name.
 */
export async function writeDeliveries(
  files: Files,
  { plan, directory, receipts }: { plan: Plan; directory: string; receipts: Receipts },
): Promise<DeliveryCounts> {
  const steps = plan.steps.filter(({ kind }) => kind === 'sms');
  const { columns, maps } = joinColumns(
    steps.map((step) => step.columns),
    () => undefined,
  );
  const { format } = plan.job.output;
  const added = [...PLACE_COLUMNS, ...RECEIPT_COLUMNS];
  const kept = listNotReplaced(columns, added);
  const lines = createLineFormat(format, [...added, ...kept.map((index) => columns[index] ?? '')]);
  const file = await files.createWhole(join(directory, `deliveries.${format}`));
  try {
    const output: Output = { file, lines, text: new TextBuffer(), counts: {}, width: columns.length, kept };
    output.text.append(lines.header);
    for (const [at, step] of steps.entries()) {
      await writeStep(output, { files, directory, receipts, step, columnMap: maps[at] ?? [] });
    }
    await output.text.flush((bytes) => file.write(bytes));
    await file.finish();
    return Object.fromEntries(Object.entries(output.counts).sort(([one], [other]) => (one < other ? -1 : 1)));
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

function describe({ umid, state, detail, errorCode, errorMessage, time }: Receipt): string[] {
  return [umid, state, detail, errorCode, errorMessage, time];
}
