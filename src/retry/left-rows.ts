import { join } from 'node:path';
import type { Cell } from '../domain/row.js';
import { spreadCells } from '../plan/bind-columns.js';
import type { PlanAt } from '../plan/format/plan-file.js';
import { isLeftOut } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { createNaming } from '../plan/reimport/named-rows.js';
import type { RowStanding } from '../report/outputs.js';
import { readRunRows } from '../report/run-rows.js';
import { readReported } from '../report/step-report.js';
import { readSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';

/** A row that is left to fix. */
export interface RejectedRow {
  /** By what every plan that has the row knows it. */
  readonly name: string;
  readonly place: readonly [step: number, file: string, line: number, row: number];
  readonly standing: RowStanding;
  /** Its cells in the order of the list's columns. */
  readonly cells: readonly (Cell | null)[];
  /** The number that has back what a spreadsheet took; undefined where only a person can say. */
  readonly put: string | undefined;
}

const PUT_BACK =
  /^The number (?:lost its (?:\+|leading 0); it is probably|may have lost a \+ \(then it is) (\+\d{7,15})(?:\.$|\))/;

/** Runs of the job that are none of these, and could not use some of their rows. */
export async function listOthers(
  files: Files,
  related: readonly PlanAt[],
): Promise<{ directory: string; rows: number }[]> {
  const own = new Set(related.map(({ directory }) => directory));
  const others: { directory: string; rows: number }[] = [];
  const jobDirectory = join(related[0]?.directory ?? '', '..');
  for await (const { path } of (await RunDirectories.read(files, jobDirectory)).list(files)) {
    const rows = own.has(path) ? 0 : ((await readSummary(files, path))?.balance.rejected ?? 0);
    if (rows > 0) others.push({ directory: path, rows });
  }
  return others;
}

/**
 * The rows that stand in the rejections of runs, in the order in which they began. Invariant: a row stands once, where it was read last, and not at all
 * where one of them took it. `columns` gets theirs.
 */
export async function* readLeft(
  files: Files,
  runs: readonly PlanAt[],
  columns: string[],
): AsyncGenerator<RejectedRow[]> {
  const places = await placeReadAgain(files, runs);
  for (const run of runs) {
    const [step] = run.plan.steps;
    for await (const batch of readNamed(files, run, columns)) {
      yield batch.flatMap(({ row, standing, name, at, spread }): RejectedRow[] => {
        if (standing.output !== 'rejections' || (places.get(name) ?? at) !== at) return [];
        const place = [step?.number ?? 1, step?.inputs[row.file]?.file ?? '', row.line, row.row] as const;
        const put = PUT_BACK.exec(standing.reason)?.[1];
        return [{ name, place, standing, cells: spread(), put }];
      });
    }
  }
}

/** Rows that were read again, by name: where they were refused last; '' for one that was taken. */
async function placeReadAgain(files: Files, runs: readonly PlanAt[]): Promise<Map<string, string>> {
  const places = new Map<string, string>();
  for (const run of runs) {
    const isFed = run.plan.steps.some(({ inputs }) => inputs.some(({ fedFrom }) => fedFrom !== undefined));
    if (run.plan.retryOf === undefined && !isFed) continue;
    for await (const batch of readNamed(files, run, [])) {
      // One that is a duplicate, or on a list, is none of this run: another correction may send it.
      for (const { row, standing, name, at } of batch)
        if (row.from !== undefined && places.get(name) !== '' && (row.state !== 'skipped' || isLeftOut(row)))
          places.set(name, standing.output === 'rejections' ? at : '');
    }
  }
  return places;
}

interface NamedRow {
  readonly row: RowLine;
  readonly standing: RowStanding;
  readonly name: string;
  /** Its place, which no other row has. */
  readonly at: string;
  readonly spread: () => Cell[];
}

/** The rows of a run that were rejected, or read again, in batches. */
async function* readNamed(files: Files, run: PlanAt, columns: string[]): AsyncGenerator<NamedRow[]> {
  const { directory, plan } = run;
  const [planned] = plan.steps;
  if (planned?.files === undefined) return;
  const { rows } = await readRunRows(files, run);
  const nameOf = createNaming(plan, planned);
  for (const column of planned.columns) if (!columns.includes(column)) columns.push(column);
  const maps = planned.inputs.map(({ columnMap }) =>
    columnMap.map((index) => columns.indexOf(planned.columns[index] ?? '')),
  );
  let named: NamedRow[] = [];
  const name = (row: RowLine, standing: RowStanding) => {
    if (standing.output !== 'rejections' && row.from === undefined) return;
    const at = `${plan.id} ${row.file} ${row.row}`;
    const spread = () => spreadCells(row.cells, maps[row.file] ?? [], columns.length);
    named.push({ row, standing, name: nameOf(row), at, spread });
  };
  for await (const _batch of readReported(files, { plan, planned, directory, rows }, name)) {
    yield named;
    named = [];
  }
}
