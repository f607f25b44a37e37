import { join } from 'node:path';
import type { Cell } from '../domain/row.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, type PlannedStep, readPlan } from '../plan/format/plan-file.js';
import type { RowLine } from '../plan/format/row-line.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { readRunFile } from '../plan/format/run-record.js';
import { createNaming, fileIdsOf, type PlanAt } from '../plan/reimport/named-rows.js';
import { readRunRows } from '../report/read-run-rows.js';
import type { RowStanding } from '../report/rows.js';
import { type ReportedRow, readReported } from '../report/step-report.js';
import { readSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';

/** A row that is left to fix. */
export interface RejectedRow {
  /** The same in every plan that has it. */
  readonly name: string;
  readonly place: readonly [step: number, file: string, line: number, row: number];
  readonly standing: RowStanding;
  /** In the order of the list's columns. */
  readonly cells: readonly (Cell | null)[];
  /** The number that has back what a spreadsheet took; undefined where only a person can say. */
  readonly put: string | undefined;
}

const PUT_BACK =
  /^The number (?:lost its (?:\+|leading 0); it is probably|may have lost a \+ \(then it is) (\+\d{7,15})(?:\.$|\))/;

/**
 * A plan, and all that have rows of it or of each other, by re-import and retry: the first ones first, the plan itself last. Of
 * those that are pruned nothing is left to fix.
 */
export async function findRelated(files: Files, of: PlanAt): Promise<PlanAt[]> {
  const others: (PlanAt & { atMs: number })[] = [];
  for await (const { run, path, hasPlan } of (await RunDirectories.read(files, join(of.directory, '..'))).list(files)) {
    const { record } = (await readRunFile(files, path)) ?? {};
    if (!hasPlan || run === of.plan.id || record?.pruned !== undefined) continue;
    const atMs = record?.begun?.at ?? (await files.stat(join(path, PLAN_FILE)))?.modifiedMs ?? 0;
    others.push({ directory: path, plan: await readPlan(files, path), atMs });
  }
  const found = new Set<PlanAt>([of]);
  for (const { plan } of found) {
    for (const other of others) if (hasRowsOf(plan, other.plan) || hasRowsOf(other.plan, plan)) found.add(other);
  }
  return [...others.filter((each) => found.has(each)).sort((one, other) => one.atMs - other.atMs), of];
}

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

function hasRowsOf(plan: Plan, other: Plan): boolean {
  if (plan.retryOf?.run === other.id) return true;
  const files = [...listFed(other), ...listOf(other, (step) => fileIdsOf(other, step))];
  return listFed(plan).some((file) => files.includes(file));
}

/** Files of which a plan has rows that came back. */
function listFed(plan: Plan): string[] {
  return listOf(plan, ({ inputs }) => inputs.flatMap(({ fedFrom = [] }) => fedFrom));
}

/** Files of the steps of a plan, each with the account: what another has of them are other rows. */
function listOf({ job, steps }: Plan, filesOf: (step: PlannedStep) => readonly string[]): string[] {
  return steps.flatMap((step) => filesOf(step).map((file) => `${file} ${accountOfKind(job, step.kind)}`));
}

/**
 * The rows that stand in the rejections of a plan or of the runs before it. Invariant: a row stands once, where it was read last, and not at all
 * where one of them took it. `columns` gets theirs.
 */
export async function* readLeft(
  files: Files,
  runs: readonly PlanAt[],
  columns: string[],
): AsyncGenerator<RejectedRow[]> {
  const counted: PlanAt[] = [];
  // A plan that was never sent took nothing: the last one has its rows.
  for (const run of runs)
    if (run === runs.at(-1) || (await files.stat(join(run.directory, JOURNAL_FILE))) !== undefined) counted.push(run);
  const places = await placeReadAgain(files, counted);
  for (const run of counted) {
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
    if (run.plan.retryOf === undefined && listFed(run.plan).length === 0) continue;
    for await (const batch of readNamed(files, run, [])) {
      for (const { row, standing, name, at } of batch)
        if (row.from !== undefined && places.get(name) !== '')
          places.set(name, standing.output === 'rejections' ? at : '');
    }
  }
  return places;
}

interface NamedRow extends ReportedRow {
  readonly name: string;
  /** The same for no other row. */
  readonly at: string;
  /** Its cells, in the order of the columns of the list. */
  readonly spread: () => (Cell | null)[];
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
  for await (const batch of readReported(files, { plan, planned, directory, rows })) {
    yield batch.flatMap((each): NamedRow[] => {
      const { row, standing } = each;
      if (standing.output !== 'rejections' && row.from === undefined) return [];
      const at = `${plan.id} ${row.file} ${row.row}`;
      const spread = () => spreadCells(row, maps[row.file] ?? [], columns.length);
      return [{ ...each, name: nameOf(row), at, spread }];
    });
  }
}

function spreadCells({ cells }: RowLine, map: readonly number[], count: number): (Cell | null)[] {
  const spread: (Cell | null)[] = new Array(count).fill(null);
  for (const [index, column] of map.entries()) spread[column] = cells[index];
  return spread;
}
