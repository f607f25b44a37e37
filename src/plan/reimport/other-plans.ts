import { join } from 'node:path';
import { type RowId, readRowId } from '../../kinds/ids.js';
import type { Files } from '../../storage/files.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, type PlannedStep, readPlan, rowsFile } from '../format/plan-file.js';
import { readRowLines } from '../format/planned-files.js';
import { decodeRowLine } from '../format/row-line.js';
import { isSameOccurrence } from '../occurrence.js';
import { RefusedRows } from './refused-rows.js';

/** A plan in the directory of a job. */
export interface OtherPlan {
  readonly directory: string;
  readonly plan: Plan;
  /** It has a journal: what it plans is its own, whether it was sent by now or not. */
  readonly isBegun: boolean;
}

export async function listPlans(files: Files, jobDirectory: string): Promise<OtherPlan[]> {
  const plans: OtherPlan[] = [];
  for (const name of await files.list(jobDirectory)) {
    const directory = join(jobDirectory, name);
    if (name.startsWith('.') || (await files.stat(join(directory, PLAN_FILE))) === undefined) continue;
    const isBegun = (await files.stat(join(directory, JOURNAL_FILE))) !== undefined;
    plans.push({ directory, plan: await readPlan(files, directory), isBegun });
  }
  return plans;
}

/** Whether a plan may have rows of a run, because they were fed back. */
export function isFedFrom({ plan }: Pick<OtherPlan, 'plan'>, run: string): boolean {
  return plan.steps.some((step) => isStepFedFrom(step, run));
}

/** Whether a plan may have rows of a run, in whatever way. */
function hasRowsOf(other: OtherPlan, run: string): boolean {
  return other.plan.retryOf?.run === run || isFedFrom(other, run);
}

function isStepFedFrom({ inputs }: PlannedStep, run: string): boolean {
  return inputs.some(({ fedFrom }) => fedFrom?.includes(run) === true);
}

/** A planned row that is one of another run. */
export interface RowOfOther {
  readonly kind: string;
  readonly step: number;
  /** Among the planned rows of the step. */
  readonly index: number;
  /** In the other run. */
  readonly id: string;
  /** File and line. */
  readonly where: string;
}

/** Rows of other runs that a plan would send. */
export async function* readRowsOfOthers(
  files: Files,
  { directory, plan }: Pick<OtherPlan, 'directory' | 'plan'>,
): AsyncGenerator<RowOfOther> {
  for (const step of plan.steps) {
    const { kind, number, inputs, counts } = step;
    const hasAny = plan.retryOf !== undefined || inputs.some(({ fedFrom }) => fedFrom !== undefined);
    if (!hasAny || counts.planned === 0) continue;
    const path = rowsFile(directory, step);
    let planned = 0;
    for await (const line of readRowLines(files, directory, step)) {
      if (line[STATE_AT] !== PLANNED) continue;
      const index = planned;
      planned += 1;
      // Cells end a line of any other row.
      if (!line.subarray(-2).equals(ID_END)) continue;
      const row = decodeRowLine(line.toString('utf8'), path);
      if (row.from === undefined) continue;
      yield { kind, step: number, index, id: row.from, where: `${inputs[row.file]?.file}:${row.line}` };
    }
  }
}

const ID_END = Buffer.from('"]');
const STATE_AT = 2;
const PLANNED = 'p'.charCodeAt(0);

/** Rows of other runs that plans have for good, read as far as they are asked for. */
export class GivenRows {
  readonly #files: Files;
  readonly #plans: readonly OtherPlan[];
  readonly #refused: RefusedRows;
  readonly #read = new Set<OtherPlan>();
  readonly #given = new Map<string, string>();

  /**
   * `counting`: of these a plan that retries rows of a run has them, begun or not; others once they are begun. `all`: those by which
   * an id can be known again.
   */
  constructor(files: Files, { counting, all }: { counting: readonly OtherPlan[]; all: readonly OtherPlan[] }) {
    this.#files = files;
    this.#plans = counting.filter(({ plan, isBegun }) => isBegun || plan.retryOf !== undefined);
    this.#refused = new RefusedRows(files, all);
  }

  /** To be called for a row before it is asked for. */
  async load({ run, isPlanned }: RowId): Promise<void> {
    const runs = isPlanned ? [run] : await this.#refused.load(run);
    for (const other of this.#plans) {
      if (!isPlanned && runs.includes(other.plan.id)) await this.#refused.load(other.plan.id);
      if (this.#read.has(other) || !runs.some((each) => hasRowsOf(other, each))) continue;
      this.#read.add(other);
      for await (const { kind, id } of readRowsOfOthers(this.#files, other)) {
        const row = readRowId(id);
        if (row?.isPlanned === false) await this.#refused.load(row.run);
        this.#given.set(`${kind} ${this.nameOf(id)}`, other.plan.id);
      }
    }
  }

  /** The same for all ids of a row. */
  nameOf(id: string): string {
    return this.#refused.nameOf(id);
  }

  /** Id of the plan of which a step of the kind has the row, as it was fed back or in its own file; undefined where none has. */
  planOf(kind: string, id: string): string | undefined {
    return this.#given.get(`${kind} ${this.nameOf(id)}`) ?? this.#findReader(kind, id)?.plan.id;
  }

  /** The file of a plan in which a row stands that it also has by an id, and from which it would send it. */
  async findTwin(plan: Plan, { kind, id }: RowOfOther): Promise<string | undefined> {
    if (readRowId(id)?.isPlanned !== false) return undefined;
    await this.#refused.load(plan.id);
    const own = this.#refused.stateIn(plan, kind, id);
    return own?.state === 'planned' ? own.file : undefined;
  }

  /** Another run that read the file of a refused row, and did not refuse it. */
  #findReader(kind: string, id: string): OtherPlan | undefined {
    const run = readRowId(id)?.run;
    return this.#plans.find(({ plan }) => {
      const state = plan.id === run ? undefined : this.#refused.stateIn(plan, kind, id)?.state;
      return state !== undefined && state !== 'rejected';
    });
  }
}

/**
 * The plans that count for another one, as for whole files: not itself; those for the same account, as what only the sandbox
 * took has reached nobody; and where files are repeated (`occurrence`), those of the same time.
 */
export function countingFor(
  plans: readonly OtherPlan[],
  { id, occurrence, job }: Pick<Plan, 'id' | 'occurrence' | 'job'>,
): OtherPlan[] {
  const account = accountOf(job);
  return plans.filter(
    ({ plan }) =>
      plan.id !== id &&
      accountOf(plan.job) === account &&
      (occurrence === '' || isSameOccurrence(plan.occurrence, occurrence)),
  );
}

/** Sandbox, account and subaccount, as one text. */
export function accountOf({ service: { sandbox, account, subAccountId } }: Pick<Plan['job'], 'service'>): string {
  return JSON.stringify([sandbox, account, subAccountId]);
}
