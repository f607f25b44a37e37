import type { Skip } from '../domain/row.js';
import type { RowStep } from '../job/job.js';
import { NumberSet } from '../normalize/number/number-set.js';
import { foldSessionId } from '../service/areas/verification.js';
import { kindOf } from './kinds.js';
import type { DraftedRow, RowPlanner, RowRefusal } from './step-kind.js';

/** What a step knows beside the drafts of its rows. */
export interface JudgeContext {
  /** Why a row with this number is skipped: a suppression list of the step has it. Undefined where none has. */
  readonly findSuppressed: (number: number) => Skip | undefined;
  /** Absent where nothing is known of any number. */
  readonly had?: HadRows | undefined;
  /** Where the row with this ordinal (over all files of the step) stands, for people. */
  readonly describeRow: (ordinal: number) => string;
}

/** Why a row is skipped whose number had its text already, or too many; `note`: the row is planned. */
export interface HadRows {
  readonly find: FindHad;
  note(number: number, textOf: () => number): void;
}

/** `textOf`: the digest of sender and text, asked for where the number is known. */
export type FindHad = (number: number, textOf: () => number) => HadSkip | undefined;

export interface HadSkip extends Skip {
  readonly code: 'had-it-already' | 'too-often';
}

/**
 * Says which rows of a step are sent: a number on a suppression list comes first, then what the draft says itself, who had the text already,
 * and last the duplicates, so that a row which is not sent never takes the place of one that is.
 */
export function createRowJudge(
  step: RowStep,
  { digestText }: Pick<RowPlanner, 'digestText'>,
  { findSuppressed, had, describeRow }: JudgeContext,
) {
  const numbers = new NumberSet();
  /** A code is good for two hours at most, which at the cap of 100 checks a second is 720,000 sessions. */
  const sessions = new Map<string, number>();
  const comparesBy = kindOf(step).comparesBy?.(step);

  const findEarlier = (row: DraftedRow): number | undefined => {
    if (comparesBy === 'number') return row.number && numbers.add(row.number, row.ordinal);
    if (comparesBy === undefined) return undefined;
    const session = foldSessionId(row.facts[0] ?? '');
    const earlier = sessions.get(session);
    if (earlier === undefined) sessions.set(session, row.ordinal);
    return earlier;
  };
  /** Refuses a row whose number or session an earlier row has. */
  const refuseDuplicate = (row: DraftedRow): RowRefusal | undefined => {
    const earlier = findEarlier(row);
    if (earlier === undefined) return undefined;
    const reason = `The same ${comparesBy} stands in ${describeRow(earlier)}, which is the one used`;
    return { kind: 'skipped', skip: { code: 'duplicate', reason } };
  };
  return {
    /** Why a row is not sent; undefined where it is. */
    refuse(row: DraftedRow): RowRefusal | undefined {
      const { number, refusal } = row;
      if (number === undefined) return refusal ?? refuseDuplicate(row);
      const suppressed = findSuppressed(number);
      if (suppressed !== undefined) return { kind: 'skipped', skip: suppressed };
      if (refusal !== undefined) return refusal;
      const skip = digestText && had?.find(number, () => digestText(row));
      return skip === undefined ? refuseDuplicate(row) : { kind: 'skipped', skip };
    },
    /** The row is planned. */
    note(row: DraftedRow): void {
      if (digestText !== undefined && row.number !== undefined) had?.note(row.number, () => digestText(row));
    },
  };
}

export type RowJudge = ReturnType<typeof createRowJudge>;
