import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { type RowId, readRowId } from '../kinds/ids.js';
import type { Plan } from '../plan/format/plan-file.js';
import { isSameOccurrence } from '../plan/occurrence.js';
import { countingFor, type OtherPlan } from '../plan/reimport/other-plans.js';
import { readRunRows } from '../report/read-run-rows.js';
import type { Files } from '../storage/files.js';
import { isOfRefused, type ReceivedRows } from './received-rows.js';

/**
 * What the runs of a job hold of rows that come back by their ids: only a row that was refused, and that its run still has, may be
 * sent by another plan. The journal of each run is read once, when it is first asked for.
 */
export class HeldRows {
  readonly #files: Files;
  readonly #occurrence: string;
  readonly #received: ReceivedRows;
  readonly #isRefused: boolean;
  /** Begun runs for the same account. */
  readonly #runs: ReadonlyMap<string, OtherPlan>;
  readonly #plans: ReadonlySet<string>;
  readonly #read = new Map<string, RowStatusView>();

  constructor(
    { files, received }: { files: Files; received: ReceivedRows },
    { plans, job, occurrence, retryOf }: { plans: readonly OtherPlan[] } & Pick<Plan, 'job' | 'occurrence' | 'retryOf'>,
  ) {
    this.#files = files;
    this.#received = received;
    this.#isRefused = isOfRefused(retryOf === undefined ? {} : { retryOf });
    this.#occurrence = occurrence;
    const ofAccount = countingFor(plans, { id: '', occurrence: '', job });
    this.#runs = new Map(ofAccount.flatMap((each) => (each.isBegun ? [[each.plan.id, each] as const] : [])));
    this.#plans = new Set(plans.map(({ plan }) => plan.id));
  }

  /** Why a step of a kind must not send a row of another run; undefined where it may, or where nothing is known of the run. */
  async findFault(kind: string, id: string): Promise<string | undefined> {
    const row = readRowId(id);
    const found = row?.isPlanned === true ? this.#runs.get(row.run) : undefined;
    if (row === undefined || found === undefined) return undefined;
    const rows = this.#read.get(row.run) ?? (await readRunRows(this.#files, found)).rows;
    this.#read.set(row.run, rows);
    if (await this.#received.has(row, { isRefused: this.#isRefused }))
      return `a delivery receipt shows that run ${row.run} sent the row with its _rowId`;
    const gone = this.#findGone(kind, { row, plan: found.plan, rows });
    if (gone !== undefined) return `plan ${gone} claimed the row from run ${row.run}, is gone, and may have sent it`;
    if (['moved', 'rejected'].includes(rows.currentStatusOf(row.step, row.index))) return undefined;
    return `in run ${row.run} the row with its _rowId was not rejected: it was sent, or may yet be sent`;
  }

  /** The plan that a row was given to, where it cannot tell any more what became of it; one of another time is none. */
  #findGone(kind: string, { row, plan, rows }: { row: RowId; plan: Plan; rows: RowStatusView }): string | undefined {
    if (this.#occurrence !== '' && !isSameOccurrence(this.#occurrence, plan.occurrence)) return undefined;
    if (plan.steps.find(({ number }) => number === row.step)?.kind !== kind) return undefined;
    const given = rows.movedTo(row.step, row.index);
    return given === undefined || this.#plans.has(given) ? undefined : given;
  }
}
