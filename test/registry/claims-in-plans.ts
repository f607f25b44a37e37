import { readRowId } from '../../src/kinds/ids.js';
import { accountOfKind } from '../../src/plan/format/account-of.js';
import type { Plan } from '../../src/plan/format/plan-file.js';
import { isSameOccurrence } from '../../src/plan/occurrence.js';
import { RefusedRows } from '../../src/plan/reimport/refused-rows.js';
import { readRowsOfOthers } from '../../src/plan/reimport/rows-of-others.js';
import type { PastRun } from '../../src/registry/read-runs.js';
import type { Files } from '../../src/storage/files.js';

/**
 * Which plan has a row of another run, by a look at every plan of the job: those that retry rows have theirs, begun or not, others once
 * they are begun. So it was answered before there were claims; what a plan had that is gone is not known here.
 */
export class ClaimsInPlans {
  readonly #files: Files;
  readonly #plans: readonly PastRun[];
  readonly #others: readonly PastRun[];
  readonly #job: Plan['job'];
  readonly #refused: RefusedRows;
  /** Of any account: a plan may have rows that runs of another one refused, and claims them by their file too. */
  readonly #refusedAnywhere: RefusedRows;
  readonly #claimed = new Map<string, string>();

  constructor(
    files: Files,
    { history, plan }: { history: readonly PastRun[]; plan: Pick<Plan, 'id' | 'occurrence' | 'job'> },
  ) {
    const others = history.filter((run) => run.plan.id !== plan.id);
    this.#files = files;
    this.#others = others;
    this.#job = plan.job;
    this.#refused = new RefusedRows(files, others);
    this.#refusedAnywhere = new RefusedRows(files, history);
    this.#plans = others.filter((run) => {
      const isOfTime = plan.occurrence === '' || isSameOccurrence(run.plan.occurrence, plan.occurrence);
      return isOfTime && (run.state !== 'planned' || run.plan.retryOf !== undefined);
    });
  }

  async read(): Promise<this> {
    for (const { plan } of this.#plans) await this.#refused.load(plan.id);
    for (const run of this.#plans) {
      for await (const { kind, id } of readRowsOfOthers(this.#files, run)) {
        if (!this.#isOfAccount(run.plan, kind)) continue;
        await this.#refusedAnywhere.load(readRowId(id)?.run ?? '');
        for (const key of keysOf(kind, id, this.#refusedAnywhere)) this.#claimed.set(key, run.plan.id);
      }
    }
    return this;
  }

  async planOf(kind: string, id: string): Promise<string | undefined> {
    await this.#refused.load(readRowId(id)?.run ?? '');
    const [owner] = keysOf(kind, id, this.#refused).flatMap((key) => this.#claimed.get(key) ?? []);
    return owner ?? this.#findReader(kind, id);
  }

  #isOfAccount({ job }: Plan, kind: string): boolean {
    return accountOfKind(job, kind) === accountOfKind(this.#job, kind);
  }

  #hasRowsOf(run: string | undefined, source: string): boolean {
    const from = this.#others.find(({ plan }) => plan.id === run)?.plan.retryOf?.run;
    return from !== undefined && (from === source || this.#hasRowsOf(from, source));
  }

  /** Another run that read the file of a refused row, and did not refuse it. */
  #findReader(kind: string, id: string): string | undefined {
    const run = readRowId(id)?.run;
    return this.#plans.find(({ plan }) => {
      // A plan that retries rows reads no file; what it refuses, the run that gave it the row does not have any more.
      if (!this.#isOfAccount(plan, kind)) return false;
      if (plan.id === run || plan.retryOf !== undefined || this.#hasRowsOf(run, plan.id)) return false;
      const state = this.#refused.stateIn(plan, kind, id)?.state;
      return state !== undefined && state !== 'rejected';
    })?.plan.id;
  }
}

/** One for each name of a row. */
function keysOf(kind: string, id: string, refused: RefusedRows): string[] {
  const row = readRowId(id);
  return row === undefined ? [] : refused.namesOf(row).map((name) => JSON.stringify([kind, name]));
}
