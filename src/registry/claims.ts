import { RowRanges } from '../journal/row-status/row-ranges.js';
import { accountOfKind } from '../plan/format/account-of.js';
import type { Plan, RetryOf } from '../plan/format/plan-file.js';
import { isSameOccurrence } from '../plan/occurrence.js';
import type { RowName } from '../plan/reimport/refused-rows.js';

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
  /** Of the step that claims them. */
  readonly kind: string;
  /** Of that step, as its requests name it (account-of.ts). */
  readonly account: string;
  /**
   * What stands before the numbers of the rows: for rows of a run how their ids begin, such as `k3v9q2m8x4aa-1-`, and `k3v9q2m8x4aa-1-r`
   * for those that its plan refused; for these once more their file (refused-rows.ts), by which every plan that read it knows them.
   */
  readonly from: string;
  /**
   * Their numbers, as ranges: for each how far it begins behind the end of the last one, and how many rows it has. Rows 3, 4, 5 and 9
   * are `3,3,3,1`. A text, so that it is read only where it is asked for.
   */
  readonly rows: string;
}

/** Whose claims count. */
export interface ClaimScope {
  readonly account: string;
  /** '': claims of any time count; else those of the same alone. */
  readonly occurrence: string;
}

/** What one plan claimed of the rows of one step of a run. */
export class Claim {
  /** All that was claimed with it. */
  readonly of: PlanClaims;
  readonly account: string;
  readonly #text: string;
  #rows: RowRanges<true> | undefined;

  constructor(of: PlanClaims, { account, rows }: ClaimedRows) {
    this.of = of;
    this.account = account;
    this.#text = rows;
  }

  /** As they were claimed. Read when they are first asked for: most jobs never ask. */
  *ranges(): Generator<readonly [first: number, count: number]> {
    const numbers: number[] = JSON.parse(`[${this.#text}]`);
    let end = 0;
    for (let at = 0; at < numbers.length; at += 2) {
      const [first, count] = [end + (numbers[at] ?? 0), numbers[at + 1] ?? 0];
      yield [first, count];
      end = first + count;
    }
  }

  has(row: number): boolean {
    if (this.#rows === undefined) {
      this.#rows = new RowRanges<true>();
      for (const range of this.ranges()) this.#rows.add(range, true);
    }
    return this.#rows.find(row) === true;
  }
}

export type Claimant = Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>;

/** Rows that a plan claims, by the kind of its step and their `from`. */
export class RowsToClaim {
  readonly #rows = new Map<string, { kind: string; from: string; numbers: number[]; end: number }>();
  count = 0;

  add(kind: string, { from, row }: RowName, count = 1): void {
    const rows = this.#rows.get(`${kind} ${from}`) ?? { kind, from, numbers: [], end: 0 };
    this.#rows.set(`${kind} ${from}`, rows);
    const { numbers, end } = rows;
    rows.end = row + count;
    if (row === end && numbers.length > 0) numbers.push((numbers.pop() ?? 0) + count);
    else numbers.push(row - end, count);
  }

  /** None where there is nothing to claim. */
  describe({ id, job, occurrence, retryOf }: Claimant, { at, by }: { at: number; by: string }): PlanClaims[] {
    if (this.count === 0) return [];
    const rows = [...this.#rows.values()].map(({ kind, from, numbers }) => {
      return { kind, account: accountOfKind(job, kind), from, rows: numbers.join() };
    });
    const who = { plan: id, by, occurrence, retryOf: retryOf ?? null };
    return [{ at, ...who, count: this.count, rows }];
  }
}

/** Which rows of other runs the plans of a job have claimed, for good: whatever becomes of a plan, nobody else has its rows. Pure. */
export class Claims {
  /** By the kind of the step that claims them, and their `from`: a step of another kind does something else with a row. */
  readonly #claims = new Map<string, Claim[]>();
  /** By plan. */
  readonly #plans = new Map<string, PlanClaims[]>();

  add(claims: PlanClaims): void {
    const { plan, rows } = claims;
    this.#plans.set(plan, [...this.claimsOf(plan), claims]);
    for (const claimed of rows) {
      const { kind, from } = claimed;
      this.#claims.set(`${kind} ${from}`, [...this.listOf(kind, from), new Claim(claims, claimed)]);
    }
  }

  /** What a plan has claimed. */
  claimsOf(plan: string): readonly PlanClaims[] {
    return this.#plans.get(plan) ?? [];
  }

  /** How many rows a plan has claimed: those that it claimed twice, as a process died between the two, count once. */
  countOf(plan: string): number {
    const counts = new Map(this.claimsOf(plan).map(({ rows, count }) => [JSON.stringify(rows), count]));
    return [...counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Ids of plans that have claimed rows. */
  get plans(): Iterable<string> {
    return this.#plans.keys();
  }

  listOf(kind: string, from: string): readonly Claim[] {
    return this.#claims.get(`${kind} ${from}`) ?? [];
  }

  /** Id of the plan of which a step of the kind has claimed a row, by any of its names; undefined where none has. */
  ownerOf(kind: string, names: readonly RowName[], { account, occurrence }: ClaimScope): string | undefined {
    for (const { from, row } of names) {
      const owner = this.listOf(kind, from).findLast((claim) => {
        const isOfTime = occurrence === '' || isSameOccurrence(claim.of.occurrence, occurrence);
        return isOfTime && claim.account === account && claim.has(row);
      });
      if (owner !== undefined) return owner.of.plan;
    }
    return undefined;
  }
}
