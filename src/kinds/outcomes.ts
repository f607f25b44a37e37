import { remember } from '../domain/is-object.js';
import type { InDoubt, RowOutcomes, Verdict } from '../domain/row.js';
import type { ActionCode, DoubtCode } from '../domain/row-codes.js';

/** Gives every row the same verdict: for a whole request that is in doubt, or a single row that was refused. */
export function sameVerdictForAll(count: number, verdict: Verdict): RowOutcomes {
  return { verdicts: [verdict], rows: Array.from({ length: count }, (): [number] => [0]), shared: [] };
}

/** Gathers the verdicts of a request's rows; a row that gets none is in doubt with `missing` as its reason. */
export function gatherOutcomes(count: number) {
  const verdicts: Verdict[] = [];
  const indexes = new Map<string, number>();
  const given: ([number, ...string[]] | undefined)[] = new Array(count).fill(undefined);
  const indexOf = (verdict: Verdict) => {
    const { status, code, reason } = verdict;
    return remember(indexes, `${status}\n${code}\n${reason}`, () => verdicts.push(verdict) - 1);
  };
  return {
    /** A row that is answered twice, and differently, is in doubt: either answer may be right. */
    give(row: number, verdict: Verdict, ids: readonly string[]): void {
      const before = given[row];
      const index = indexOf(verdict);
      if (before === undefined) given[row] = [index, ...ids];
      else if (before[0] !== index) {
        given[row] = [indexOf(inDoubt('contradiction', 'the answer names the row twice, with different results'))];
      }
    },
    build(missing: string, shared: readonly string[]): RowOutcomes {
      const rows = given.map((row) => row ?? ([indexOf(inDoubt('not-accounted-for', missing))] as [number]));
      return { verdicts, rows, shared };
    },
  };
}

export function refuseAction(code: ActionCode, reason: string): Verdict {
  return { status: 'rejected', code, reason };
}

export function inDoubt(code: DoubtCode, reason: string): InDoubt {
  return { status: 'in-doubt', code, reason };
}

/** The verdict where an answer repeats the request with another number: either may be wrong. */
export const ANOTHER_NUMBER = inDoubt('contradiction', 'the answer names a number other than the one that was sent');
