import { sumOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import { RowRanges } from '../journal/row-status-view.js';
import { atAnyTime, type RowId } from '../kinds/ids.js';
import { type Plan, type RetryOf, totalOf } from '../plan/format/plan-file.js';
import { accountOfKind, isSameOccurrence } from '../plan/format/run-record.js';

/** What a plan takes of other runs, for good. Durable before the plan can begin. */
export interface PlanClaims {
  readonly at: number;
  /** Id of the plan; it may not have begun. */
  readonly plan: string;
  /** Who had them claimed: a person, by `volley retry`; else `re-import`. */
  readonly by: string;
  readonly occurrence: string;
  /** What was retried; null for a re-import. */
  readonly retryOf: RetryOf | null;
  /** How many rows. */
  readonly count: number;
  readonly rows: readonly ClaimedRows[];
}

interface ClaimedRows {
  /** The kind of the step that claims them. */
  readonly kind: string;
  /** The account of that step, as its requests name it (run-record.ts). */
  readonly account: string;
  /** The id of their file (`fileIdsOf`). */
  readonly from: string;
  /**
   * Their numbers, as ranges: for each how far it begins behind the end of the last one, and how many rows it has. Rows 3, 4, 5 and 9
   * are `3,3,3,1`. A text, so that it is read only where it is asked for.
   */
  readonly rows: string;
}

/** The plan for which a row is looked up. */
export type ForPlan = Pick<Plan, 'job' | 'occurrence'>;

/** What one plan claimed of the rows of one file. */
class Claim {
  /** All that was claimed with it. */
  readonly of: PlanClaims;
  readonly #claimed: ClaimedRows;
  #rows: RowRanges<true> | undefined;

  constructor(of: PlanClaims, claimed: ClaimedRows) {
    this.of = of;
    this.#claimed = claimed;
  }

  get account(): string {
    return this.#claimed.account;
  }

  get file(): string {
    return this.#claimed.from;
  }

  /** Read when it is first asked: most jobs never ask. */
  has(row: number): boolean {
    if (this.#rows === undefined) {
      this.#rows = new RowRanges<true>();
      const numbers: number[] = JSON.parse(`[${this.#claimed.rows}]`);
      let end = 0;
      for (let at = 0; at < numbers.length; at += 2) {
        const [first, count] = [end + (numbers[at] ?? 0), numbers[at + 1] ?? 0];
        this.#rows.add([first, count], true);
        end = first + count;
      }
    }
    return this.#rows.find(row) === true;
  }
}

type Claimant = Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>;

/** Rows that a plan claims, by the kind of its step and their files. */
export class RowsToClaim {
  readonly #rows = new Map<string, { kind: string; file: string; rows: number[] }>();

  add(kind: string, { file, row }: RowId): void {
    remember(this.#rows, `${kind} ${file}`, () => ({ kind, file, rows: [] })).rows.push(row);
  }

  /** Describes the claim of the rows; none where there is nothing to claim. */
  describe({ id, job, occurrence, retryOf }: Claimant, { at, by }: { at: number; by: string }): PlanClaims[] {
    const claimed = [...this.#rows.values()];
    if (claimed.length === 0) return [];
    const rows = claimed.map(({ kind, file, rows: numbers }) => {
      return { kind, account: accountOfKind(job, kind), from: file, rows: encodeRanges(numbers) };
    });
    const who = { plan: id, by, occurrence, retryOf: retryOf ?? null };
    const count = sumOf(claimed.map(({ rows: numbers }) => numbers.length));
    return [{ at, ...who, count, rows }];
  }
}

function encodeRanges(rows: readonly number[]): string {
  const ranges: number[] = [];
  let end = 0;
  for (const row of [...new Set(rows)].sort((one, other) => one - other)) {
    if (row === end && ranges.length > 0) ranges.push((ranges.pop() ?? 0) + 1);
    else ranges.push(row - end, 1);
    end = row + 1;
  }
  return ranges.join();
}

/** Which rows the plans of a job have claimed, for good: whatever becomes of a plan, another has its rows only by a claim of its own. Pure. */
export class Claims {
  /** By the kind of the step that claims them, and their file at any time: a step of another kind does something else with a row. */
  readonly #claims = new Map<string, Claim[]>();
  /** Claims by the id of their plan. */
  readonly #plans = new Map<string, PlanClaims[]>();

  add(claims: PlanClaims): void {
    const { plan, rows } = claims;
    remember(this.#plans, plan, (): PlanClaims[] => []).push(claims);
    for (const claimed of rows) {
      const key = `${claimed.kind} ${atAnyTime(claimed.from)}`;
      remember(this.#claims, key, (): Claim[] => []).push(new Claim(claims, claimed));
    }
  }

  /** What a plan has claimed. */
  claimsOf(plan: string): readonly PlanClaims[] {
    return this.#plans.get(plan) ?? [];
  }

  /** How many rows a plan has claimed: those that it claimed twice, as a process died between the two, count once. */
  countOf(plan: string): number {
    const counts = new Map(this.claimsOf(plan).map(({ rows, count }) => [JSON.stringify(rows), count]));
    return sumOf(counts.values());
  }

  /** Whether a plan has claimed all rows that it holds; the command that makes one that retries rows may have died before it did. */
  hasAll(plan: Pick<Plan, 'id' | 'steps'>): boolean {
    return this.countOf(plan.id) >= totalOf(plan, 'read');
  }

  /** Ids of plans that have claimed rows. */
  get plans(): Iterable<string> {
    return this.#plans.keys();
  }

  /** Whether there is a claim on rows of a file, whenever it was sent, by a plan that is not this one. */
  hasAny(kind: string, file: string, except: string): boolean {
    return this.#listOf(kind, file).some(({ of }) => of.plan !== except);
  }

  /**
   * The plans of which a step of the kind has claimed a row of the account, the last one last: for a plan of files that are sent once those
   * that claimed it as often as it was sent; else those of the same time, however often it was sent.
   */
  listOwners(kind: string, id: RowId, { job, occurrence }: ForPlan): string[] {
    const account = accountOfKind(job, kind);
    return this.#listOf(kind, id.file).flatMap((claim) => {
      const isOfTime = occurrence === '' ? claim.file === id.file : isSameOccurrence(claim.of.occurrence, occurrence);
      return isOfTime && claim.account === account && claim.has(id.row) ? [claim.of.plan] : [];
    });
  }

  /**
   * Whether a plan has claimed a row, and what claimed it from that plan: a retry of it; or a re-import, where the plan or the service
   * rejected the row. Else one that came back has the row of an earlier plan, for another time.
   */
  findNext(
    kind: string,
    id: RowId,
    { id: plan, job }: Pick<Plan, 'id' | 'job'>,
    isRejected: boolean,
  ): { isOwn: boolean; next: PlanClaims | undefined } {
    const account = accountOfKind(job, kind);
    const isRetry = ({ of }: Claim) => of.retryOf?.run === plan;
    const claims = this.#listOf(kind, id.file).filter((claim) => {
      return (claim.account === account || isRetry(claim)) && claim.file === id.file && claim.has(id.row);
    });
    const own = claims.findLastIndex(({ of }) => of.plan === plan);
    const next = claims.find(isRetry) ?? claims.find(({ of }, at) => isRejected && at > own && of.retryOf === null);
    return { isOwn: own !== -1, next: next?.of };
  }

  #listOf(kind: string, file: string): readonly Claim[] {
    return this.#claims.get(`${kind} ${atAnyTime(file)}`) ?? [];
  }
}
