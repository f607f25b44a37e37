import { join } from 'node:path';
import type { Files } from '../files.js';
import { decodeRowLine, JOURNAL_FILE, PLAN_FILE, type Plan, type PlannedStep, readPlan, rowsFile } from './file.js';
import { readLines } from './row-lines.js';

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

/** Rows of other runs that a plan would send, with the kind of the step that does. */
export async function* readRowsOfOthers(
  files: Files,
  { directory, plan }: Pick<OtherPlan, 'directory' | 'plan'>,
): AsyncGenerator<{ kind: string; id: string }> {
  for (const step of plan.steps) {
    const hasAny = plan.retryOf !== undefined || step.inputs.some(({ fedFrom }) => fedFrom !== undefined);
    if (!hasAny || step.counts.planned === 0) continue;
    const path = rowsFile(directory, step);
    for await (const line of readLines(files, path)) {
      // Cells end a line of any other row.
      if (!line.subarray(-2).equals(ID_END)) continue;
      const row = decodeRowLine(line.toString('utf8'), path);
      if (row.state === 'planned' && row.from !== undefined) yield { kind: step.kind, id: row.from };
    }
  }
}

const ID_END = Buffer.from('"]');

/** Rows of other runs that plans have for good, read as far as they are asked for. */
export class GivenRows {
  readonly #files: Files;
  readonly #plans: readonly OtherPlan[];
  readonly #read = new Set<OtherPlan>();
  readonly #given = new Map<string, string>();

  /** `plans`: a plan that retries rows of a run counts, begun or not. Others count once they are begun. */
  constructor(files: Files, plans: readonly OtherPlan[]) {
    this.#files = files;
    this.#plans = plans.filter(({ plan, isBegun }) => isBegun || plan.retryOf !== undefined);
  }

  /** To be called for a run before its rows are asked for. */
  async load(run: string): Promise<void> {
    for (const other of this.#plans) {
      if (this.#read.has(other) || !hasRowsOf(other, run)) continue;
      this.#read.add(other);
      for await (const { kind, id } of readRowsOfOthers(this.#files, other)) {
        this.#given.set(`${kind} ${id}`, other.plan.id);
      }
    }
  }

  /** Id of the plan of which a step of the kind has the row; undefined where none has. */
  planOf(kind: string, id: string): string | undefined {
    return this.#given.get(`${kind} ${id}`);
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
      plan.id !== id && accountOf(plan.job) === account && (occurrence === '' || plan.occurrence === occurrence),
  );
}

function accountOf({ service: { sandbox, account, subAccountId } }: Pick<Plan['job'], 'service'>): string {
  return JSON.stringify([sandbox, account, subAccountId]);
}
