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
export class RowJudge {
  readonly #context: JudgeContext;
  readonly #digestText: RowPlanner['digestText'];
  readonly #comparesBy: 'number' | 'session' | undefined;
  readonly #numbers = new NumberSet();
  /** A code is good for two hours at most, which at the cap of 100 checks a second is 720,000 sessions. */
  readonly #sessions = new Map<string, number>();

  constructor(step: RowStep, { digestText }: Pick<RowPlanner, 'digestText'>, context: JudgeContext) {
    this.#context = context;
    this.#digestText = digestText;
    this.#comparesBy = kindOf(step).comparesBy?.(step);
  }

  /** Why a row is not sent; undefined where it is. */
  refuse(row: DraftedRow): RowRefusal | undefined {
    const { number, refusal } = row;
    if (number === undefined) return refusal ?? this.#refuseDuplicate(row);
    const suppressed = this.#context.findSuppressed(number);
    if (suppressed !== undefined) return { kind: 'skipped', skip: suppressed };
    if (refusal !== undefined) return refusal;
    const digest = this.#digestText;
    const skip = digest && this.#context.had?.find(number, () => digest(row));
    return skip === undefined ? this.#refuseDuplicate(row) : { kind: 'skipped', skip };
  }

  /** The row is planned. */
  note(row: DraftedRow): void {
    const digest = this.#digestText;
    if (digest !== undefined && row.number !== undefined) this.#context.had?.note(row.number, () => digest(row));
  }

  /** Refuses a row whose number or session an earlier row has. */
  #refuseDuplicate(row: DraftedRow): RowRefusal | undefined {
    const earlier = this.#findEarlier(row);
    if (earlier === undefined) return undefined;
    const where = this.#context.describeRow(earlier);
    const reason = `The same ${this.#comparesBy} stands in ${where}, which is the one used`;
    return { kind: 'skipped', skip: { code: 'duplicate', reason } };
  }

  #findEarlier(row: DraftedRow): number | undefined {
    if (this.#comparesBy === 'number') return row.number && this.#numbers.add(row.number, row.ordinal);
    if (this.#comparesBy === undefined) return undefined;
    const session = foldSessionId(row.facts[0] ?? '');
    const earlier = this.#sessions.get(session);
    if (earlier === undefined) this.#sessions.set(session, row.ordinal);
    return earlier;
  }
}
