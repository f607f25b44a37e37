import { remember } from '../domain/is-object.js';
import type { InDoubt, RowOutcomes, Verdict } from '../domain/row.js';
import type { ActionCode, DoubtCode } from '../domain/row-codes.js';

/** Gives every row the same verdict: for a whole request that is in doubt, or a single row that was refused. */
export function sameVerdictForAll(count: number, verdict: Verdict): RowOutcomes {
  return { verdicts: [verdict], rows: Array.from({ length: count }, (): [number] => [0]), shared: [] };
}

/** Gathers the verdicts of a request's rows; a row that gets none is in doubt with `missing` as its reason. */
export class OutcomeBuilder {
  readonly #verdicts: Verdict[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #rows: ([number, ...string[]] | undefined)[];

  constructor(count: number) {
    this.#rows = new Array(count).fill(undefined);
  }

  /** A row that is answered twice, and differently, is in doubt: either answer may be right. */
  give(row: number, verdict: Verdict, ids: readonly string[]): void {
    const given = this.#rows[row];
    const index = this.#indexOf(verdict);
    if (given !== undefined && given[0] !== index) {
      this.#rows[row] = [
        this.#indexOf(inDoubt('contradiction', 'the answer names the row twice, with different results')),
      ];
      return;
    }
    this.#rows[row] ??= [index, ...ids];
  }

  build(missing: string, shared: readonly string[]): RowOutcomes {
    const rows = this.#rows.map((row) => row ?? ([this.#indexOf(inDoubt('not-accounted-for', missing))] as [number]));
    return { verdicts: this.#verdicts, rows, shared };
  }

  #indexOf(verdict: Verdict): number {
    const { status, code, reason } = verdict;
    return remember(this.#indexes, `${status}\n${code}\n${reason}`, () => this.#verdicts.push(verdict) - 1);
  }
}

export function refuseAction(code: ActionCode, reason: string): Verdict {
  return { status: 'rejected', code, reason };
}

export function inDoubt(code: DoubtCode, reason: string): InDoubt {
  return { status: 'in-doubt', code, reason };
}

/** The verdict where an answer repeats the request with another number: either may be wrong. */
export const ANOTHER_NUMBER = inDoubt('contradiction', 'the answer names a number other than the one that was sent');
