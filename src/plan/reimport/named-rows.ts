import { remember } from '../../domain/is-object.js';
import { fileIdOf, formatRowId, OF_A_TEST, type RowId, readRowId } from '../../kinds/ids.js';
import type { Files } from '../../storage/files.js';
import { digestOfRows, type Plan, type PlanAt, type PlannedStep } from '../format/plan-file.js';
import { isLeftOut, readRowBatches } from '../format/planned-files.js';
import type { RowLine } from '../format/row-line.js';
import { foldFirst } from '../format/run-record.js';

/** The id of each of the files that a plan or a run read: `digest` of its rows, read by a step of the kind. */
export function listFileIds(
  files: readonly { readonly digest: string; readonly kind: string; readonly step: number }[],
  occurrence: string,
): string[] {
  const readers = new Map<string, number[]>();
  return files.map(({ digest, kind, step }) => {
    const steps = remember(readers, `${kind} ${digest}`, (): number[] => []);
    if (!steps.includes(step)) steps.push(step);
    const place = steps.indexOf(step);
    return fileIdOf({ digest, kind, place, occurrence: foldFirst(occurrence) });
  });
}

/** The ids of the inputs of a step, in their order. */
export function fileIdsOf({ steps, occurrence, testOf }: Plan, step: PlannedStep): string[] {
  if (testOf !== undefined) return step.inputs.map(() => OF_A_TEST);
  const read = steps.flatMap(({ kind, number, inputs }) =>
    inputs.map((input) => ({ digest: digestOfRows(input), kind, step: number })),
  );
  return listFileIds(read, occurrence).filter((_, index) => read[index]?.step === step.number);
}

/** Gives the id of each row of a step: the one that it came with, else by its place. */
export function createNaming(plan: Plan, step: PlannedStep): (row: Pick<RowLine, 'file' | 'row' | 'from'>) => string {
  const files = fileIdsOf(plan, step);
  return ({ file, row, from }) => from ?? formatRowId({ file: files[file] ?? '', row });
}

export interface NamedRow {
  readonly row: RowLine;
  /** Its id; undefined where it came with a text that is not one. */
  readonly id: RowId | undefined;
  /** Its place among the planned rows of the step, or among those that it left out; -1 for another. */
  readonly index: number;
}

export type IsAsked = (row: RowLine, index: number, step: PlannedStep) => boolean;

/** The rows of a step that are asked for, in their order, each with its id: most of the time goes into those that it gives. */
export async function* readNamedRows(
  files: Files,
  run: PlanAt,
  step: PlannedStep,
  isAsked: IsAsked = () => true,
): AsyncGenerator<NamedRow> {
  const own = fileIdsOf(run.plan, step);
  const next = { planned: 0, leftOut: 0 };
  for await (const batch of readRowBatches(files, run.directory, step)) {
    for (const row of batch) {
      const index = row.state === 'planned' ? next.planned++ : isLeftOut(row) ? next.leftOut++ : -1;
      if (!isAsked(row, index, step)) continue;
      const { from } = row;
      yield { row, id: from === undefined ? { file: own[row.file] ?? '', row: row.row } : readRowId(from), index };
    }
  }
}

/** Rows of other plans that a plan has: it sends them, or left them out for now; those of a retry are its own, whatever became of them. */
export async function* readRowsOfOthers(
  files: Files,
  run: PlanAt,
): AsyncGenerator<NamedRow & { readonly id: RowId; readonly step: PlannedStep }> {
  const { retryOf, steps } = run.plan;
  for (const step of steps) {
    const { inputs, counts } = step;
    if (counts.read === 0 || !(retryOf !== undefined || inputs.some(({ fedFrom }) => fedFrom !== undefined))) continue;
    const isOwn: IsAsked = (row, index) => row.from !== undefined && (retryOf !== undefined || index !== -1);
    for await (const { row, id, index } of readNamedRows(files, run, step, isOwn))
      if (id !== undefined) yield { row, id, index, step };
  }
}

const PAGE_ROWS = 256;

/** An integer of 32 bits for each of many rows, by their ids: 4 bytes a row, where a Map by the texts of the ids takes over 100. */
export class RowTable {
  /** By file: of each 256 of its rows what is kept; 0 for none, so that what is not negative stands one higher. */
  readonly #files = new Map<string, Map<number, Int32Array>>();

  get({ file, row }: RowId): number | undefined {
    const kept = this.#files.get(file)?.get(Math.floor(row / PAGE_ROWS))?.[row % PAGE_ROWS] ?? 0;
    return kept === 0 ? undefined : kept > 0 ? kept - 1 : kept;
  }

  set({ file, row }: RowId, value: number): void {
    const pages = remember(this.#files, file, () => new Map<number, Int32Array>());
    const page = remember(pages, Math.floor(row / PAGE_ROWS), () => new Int32Array(PAGE_ROWS));
    page[row % PAGE_ROWS] = value < 0 ? value : value + 1;
  }
}

/** Where a row stands in a plan: the index of a planned one, and what became of any other. */
export interface PlaceInPlan {
  readonly step: PlannedStep;
  readonly state: number | 'refused' | 'left-out' | 'skipped';
}

const OTHER_STATES = ['refused', 'left-out', 'skipped'] as const;

/** Reads where rows stand in a plan, once; what it gives finds them by their ids, for steps of a kind. */
export async function readRowPlaces(files: Files, run: PlanAt): Promise<(kind: string, id: RowId) => PlaceInPlan[]> {
  const steps: { readonly step: PlannedStep; readonly places: RowTable }[] = [];
  for (const step of run.plan.steps) {
    if (step.counts.read === 0) continue;
    const places = new RowTable();
    for await (const { row, id, index } of readNamedRows(files, run, step)) {
      // What became of a row that came back, the plan has where it did.
      if (id === undefined || (row.state === 'skipped' && row.skip.code === 'read-again')) continue;
      if ((places.get(id) ?? -1) < 0) places.set(id, row.state === 'planned' ? index : encodeState(row));
    }
    steps.push({ step, places });
  }
  return (kind, id) =>
    steps.flatMap(({ step, places }) => {
      const place = step.kind === kind ? places.get(id) : undefined;
      if (place === undefined) return [];
      return [{ step, state: place < 0 ? (OTHER_STATES[-1 - place] ?? 'skipped') : place }];
    });
}

function encodeState(row: RowLine): number {
  const state = row.state === 'rejected' ? 'refused' : isLeftOut(row) ? 'left-out' : 'skipped';
  return -1 - OTHER_STATES.indexOf(state);
}
