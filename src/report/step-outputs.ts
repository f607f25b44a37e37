import { join } from 'node:path';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { Balance } from '../domain/row.js';
import { maskNumbers } from '../normalize/mask.js';
import { spreadCells } from '../plan/columns/bind-columns.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import type { RowLine } from '../plan/format/row-line.js';
import { describeExample, describeExpected, ReasonTally } from '../plan/reasons.js';
import type { Files, WholeFile } from '../storage/files.js';
import { createLineFormat, createOutputFile, type LineFormat } from './output-format.js';
import {
  EXPLAINED_OUTPUTS,
  type ExplainedOutput,
  LISTED_OUTPUTS,
  OUTPUTS,
  type Output,
  outputCells,
  outputColumns,
  type RowStanding,
} from './rows.js';
import { emptyBalance, type StepSummary } from './summary.js';

const FLUSH_BYTES = 1 << 18;

export interface StepReport {
  readonly balance: Balance;
  /** Rows by code. */
  readonly codes: Readonly<Record<ExplainedOutput, Readonly<Record<string, number>>>>;
  /** Why rows were not accepted, by output: the commonest reasons. */
  readonly reasons: StepSummary['reasons'];
  /** Output → name of its file in the run directory. */
  readonly files: Partial<Record<Output, string>>;
}

interface OutputWriter {
  readonly file: WholeFile;
  readonly name: string;
  readonly format: LineFormat;
  readonly text: TextBuffer;
  /** Which columns of the step stand in it; undefined where all do. */
  readonly kept: readonly number[] | undefined;
}

/** The five output files of a step, written under temporary names until complete. */
export class StepOutputs {
  readonly #planned: PlannedStep;
  readonly #writers: Readonly<Record<Output, OutputWriter>>;
  readonly #balance = emptyBalance();
  readonly #reasons = forEachExplained(() => new ReasonTally());

  static async create(
    files: Files,
    { plan, planned, directory }: { plan: Plan; planned: PlannedStep; directory: string },
    resultColumns: readonly string[],
  ): Promise<StepOutputs> {
    const { columns } = planned;
    const { format } = plan.job.output;
    const open = async (output: Output) => {
      const name = `${planned.number}-${planned.kind}.${output}.${format}`;
      const { columns: all, kept } = outputColumns(output, resultColumns, columns);
      const lines = createLineFormat(plan.job.output, all);
      const file = await createOutputFile(files, join(directory, name), plan.job.output);
      const text = new TextBuffer();
      text.append(lines.header);
      const own = kept.length === columns.length ? undefined : kept;
      return { file, name, format: lines, text, kept: own };
    };
    const opened: [Output, OutputWriter][] = [];
    try {
      for (const output of LISTED_OUTPUTS) opened.push([output, await open(output)]);
    } catch (error) {
      await Promise.allSettled(opened.map(([, { file }]) => file.discard()));
      throw error;
    }
    return new StepOutputs(planned, Object.fromEntries(opened) as Record<Output, OutputWriter>);
  }

  private constructor(planned: PlannedStep, writers: Readonly<Record<Output, OutputWriter>>) {
    this.#planned = planned;
    this.#writers = writers;
  }

  get isFull(): boolean {
    return LISTED_OUTPUTS.some((output) => this.#writers[output].text.length >= FLUSH_BYTES);
  }

  add(row: RowLine, standing: RowStanding): void {
    const { output } = standing;
    this.#balance.read += 1;
    this.#balance[OUTPUTS[output].counted] += 1;
    if (output !== 'results' && output !== 'skipped') this.#addReason(row, this.#reasons[output], standing);
    const writer = this.#writers[output];
    const place = [this.#planned.number, this.#planned.inputs[row.file]?.file ?? '', row.line, row.row] as const;
    const all = this.#spread(row);
    const cells = writer.kept?.map((index) => all[index]) ?? all;
    writer.text.append(writer.format.line(outputCells(standing, place, cells)));
  }

  #addReason(row: RowLine, reasons: ReasonTally, { stage, field, code, reason }: RowStanding): void {
    // Not reached yet.
    if (code === '') return;
    reasons.add(code, () => {
      const { file = '', path = '', columns = [] } = this.#planned.inputs[row.file] ?? {};
      const { line, row: number, cells } = row;
      const example = describeExample({ file, path, line, row: number, columns, cells }, { code, field });
      return { said: stage === 'send' ? maskNumbers(reason) : describeExpected(code, reason), example };
    });
  }

  async flush(): Promise<void> {
    for (const { text, file } of Object.values(this.#writers)) await text.flush((bytes) => file.write(bytes));
  }

  async finish(): Promise<StepReport> {
    await this.flush();
    const names: Partial<Record<Output, string>> = {};
    for (const output of LISTED_OUTPUTS) {
      await this.#writers[output].file.finish();
      names[output] = this.#writers[output].name;
    }
    const codes = forEachExplained((output) => this.#reasons[output].counts());
    const reasons = EXPLAINED_OUTPUTS.flatMap((output) =>
      this.#reasons[output].list().map((each) => ({ output, ...each })),
    );
    return { balance: this.#balance, codes, reasons, files: names };
  }

  async discard(): Promise<void> {
    await Promise.allSettled(Object.values(this.#writers).map(({ file }) => file.discard()));
  }

  /** The row's cells in the order of the step's columns: the files of a step may have different ones. */
  #spread(row: RowLine): RowLine['cells'] {
    const { columns, inputs } = this.#planned;
    const map = inputs[row.file]?.columnMap ?? [];
    if (row.cells.length === columns.length && map.every((column, index) => column === index)) return row.cells;
    return spreadCells(row.cells, map, columns.length);
  }
}

function forEachExplained<T>(make: (output: ExplainedOutput) => T): Record<ExplainedOutput, T> {
  return Object.fromEntries(EXPLAINED_OUTPUTS.map((output) => [output, make(output)])) as Record<ExplainedOutput, T>;
}
