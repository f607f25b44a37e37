import { formatRowId, type RowId, readRowId } from '../../kinds/ids.js';
import type { Files } from '../../storage/files.js';
import { digestOfRows, type Plan, type PlannedStep } from '../format/plan-file.js';
import { readRows } from '../format/planned-rows.js';

/** A row by what stands before its number, and that number. */
export interface RowName {
  readonly from: string;
  readonly row: number;
}

/** A row in a file, which is known by its content. */
export interface FilePlace {
  readonly contentSha256: string;
  readonly row: number;
}

type ReadPlan = { readonly directory: string; readonly plan: Plan };
type RowState = 'planned' | 'rejected' | 'skipped';

/**
 * Rows that plans refused, known by the files that they stand in: two plans that read a file, in whatever encoding, refuse the same row,
 * each under an id of its own. Plans are read as far as they are asked for, 1 byte a row.
 */
export class RefusedRows {
  readonly #files: Files;
  readonly #plans: ReadonlyMap<string, ReadPlan>;
  readonly #read = new Map<string, Map<number, StepRows>>();
  /** By a file: the plans that read it. */
  readonly #readers: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of the runs here, those that read a file of theirs are loaded too. */
  readonly #shared = new Set<string>();

  constructor(files: Files, plans: readonly ReadPlan[]) {
    this.#files = files;
    this.#plans = new Map(plans.map((each) => [each.plan.id, each]));
    this.#readers = listReadersOf(plans);
  }

  /** To be called for a run before its rows, or what it did with those of others, are asked for. */
  async load(run: string): Promise<void> {
    const found = this.#plans.get(run);
    if (found === undefined || this.#read.has(run)) return;
    this.#read.set(run, await readSteps(this.#files, found));
  }

  /** The same for all runs that read a file of a run. */
  async loadSharing(run: string): Promise<void> {
    if (this.#shared.has(run)) return;
    const { plan } = this.#plans.get(run) ?? {};
    const contents = plan === undefined ? [] : filesOf(plan);
    for (const each of [run, ...contents.flatMap((content) => this.readersOf(content))]) await this.load(each);
    this.#shared.add(run);
  }

  /** Ids of the plans that read a file. */
  readersOf(content: string): readonly string[] {
    return [...(this.#readers.get(content) ?? [])];
  }

  /** By what a row is known: its id, and the file in which a refused one stands, which is the same for all ids of the row. */
  namesOf(id: RowId): RowName[] {
    const own = { from: idStartOf(id), row: id.index };
    const place = this.#find(formatRowId(id));
    return place === undefined ? [own] : [own, { from: fileStartOf(place), row: place.row }];
  }

  /** The file in which a refused row stands; undefined where no plan is there that knows it. */
  contentOf(id: string): string | undefined {
    return this.#find(id)?.content;
  }

  /** Where a row stands that a step of the kind and number refused. */
  placeOf(id: string, step: { readonly kind: string; readonly number: number }): FilePlace | undefined {
    const refused = this.#find(id);
    return refused?.kind === step.kind && readRowId(id)?.step === step.number ? refused.place : undefined;
  }

  /** What a plan that was loaded did with a refused row where a step of the kind read its file; undefined where none did. */
  stateIn(plan: Plan, kind: string, id: string): { state: RowState; file: string } | undefined {
    const refused = this.#find(id);
    if (refused === undefined) return undefined;
    const { content, row, ordinal } = refused;
    const steps = listReaders(plan, { kind, content });
    const [step] = refused.kind === kind ? steps.slice(ordinal) : steps;
    const input = step?.inputs.findIndex((input) => digestOfRows(input) === content) ?? -1;
    const of = this.#read.get(plan.id)?.get(step?.number ?? 0)?.states[input];
    const state = STATES[(of?.[row] ?? 0) - 1];
    const file = step?.inputs[input]?.file;
    return state === undefined || file === undefined ? undefined : { state, file };
  }

  #find(id: string): { kind: string; ordinal: number; content: string; row: number; place: FilePlace } | undefined {
    const named = readRowId(id);
    if (named === undefined || !isRefusedRow(named)) return undefined;
    const plan = this.#plans.get(named.run)?.plan;
    const step = plan?.steps.find(({ number }) => number === named.step);
    const refused = this.#read.get(named.run)?.get(named.step)?.refused[named.index];
    if (plan === undefined || step === undefined || refused === undefined) return undefined;
    const { kind, inputs } = step;
    const input = inputs[refused.file];
    const content = input === undefined ? '' : digestOfRows(input);
    const { row } = refused;
    const place = { contentSha256: input?.contentSha256 ?? '', row };
    return { kind, ordinal: listReaders(plan, { kind, content }).indexOf(step), content, row, place };
  }
}

/** What stands before the number in the name that rows of a file have by it. */
function fileStartOf({ kind, ordinal, content }: { kind: string; ordinal: number; content: string }): string {
  return `${kind} ${ordinal} ${content} `;
}

/** The same for each input of a step. */
export function fileStartsOf(plan: Plan, step: PlannedStep): string[] {
  const { kind, inputs } = step;
  return inputs.map((input) => {
    const content = digestOfRows(input);
    return fileStartOf({ kind, content, ordinal: listReaders(plan, { kind, content }).indexOf(step) });
  });
}

/** What stands before the number in the ids of rows of a step, planned or refused. */
export function idStartOf(of: Omit<RowId, 'index'>): string {
  return formatRowId({ ...of, index: 0 }).slice(0, -1);
}

/** Whether the plan of a row rejected it. */
export function isRefusedRow({ isPlanned, isLeftOut }: RowId): boolean {
  return !isPlanned && isLeftOut !== true;
}

interface StepRows {
  /** Of each input, by the number of its row: which of the states it has, 1 the first; 0 for none, and where it was read again. */
  readonly states: readonly Uint8Array[];
  readonly refused: readonly { readonly file: number; readonly row: number }[];
}

const STATES: readonly RowState[] = ['planned', 'rejected', 'skipped'];

async function readSteps(files: Files, { directory, plan }: ReadPlan): Promise<Map<number, StepRows>> {
  const steps = new Map<number, StepRows>();
  for (const step of plan.steps) {
    if (step.counts.read === 0) continue;
    const states = step.inputs.map(({ rows }) => new Uint8Array(rows + 1));
    const refused: { file: number; row: number }[] = [];
    for await (const line of readRows(files, directory, step)) {
      const { state, file, row } = line;
      if (state === 'rejected') refused.push({ file, row });
      const of = states[file];
      // What became of a row that came back, the plan has where it did.
      const isElsewhere = state === 'skipped' && line.skip.code === 'read-again';
      if (of !== undefined && !isElsewhere) of[row] = STATES.indexOf(state) + 1;
    }
    steps.set(step.number, { states, refused });
  }
  return steps;
}

/** Steps of a kind that read a file, in their order. */
function listReaders(plan: Plan, { kind, content }: { kind: string; content: string }): PlannedStep[] {
  return plan.steps.filter((step) => {
    return step.kind === kind && step.inputs.some((input) => digestOfRows(input) === content);
  });
}

function listReadersOf(plans: readonly ReadPlan[]): Map<string, Set<string>> {
  const readers = new Map<string, Set<string>>();
  for (const { plan } of plans) {
    for (const content of filesOf(plan)) readers.set(content, (readers.get(content) ?? new Set()).add(plan.id));
  }
  return readers;
}

/** The files that a plan read, by the digests of their rows. */
export function filesOf(plan: Plan): string[] {
  return plan.steps.flatMap(({ inputs }) => inputs.map(digestOfRows));
}
