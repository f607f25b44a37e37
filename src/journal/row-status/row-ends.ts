import type { NotSent, RowVerdict } from '../../domain/row.js';
import type { OutcomeEntry, SettleEntry } from '../entry-format.js';
import type { OpenRequest } from '../replay.js';

/** The end of a row, as far as it is kept per row. */
export interface RowEnd {
  readonly status: RowVerdict['status'];
  /** '' for accepted rows: their many codes stay in the journal. */
  readonly code: string;
  /** Why it is not sent, where its run gave it up. */
  readonly givenUp?: NotSent;
}

/** Numbers the distinct ends of a run's rows, from 1. */
export class RowEndTable {
  readonly #ends: (RowEnd | undefined)[] = [undefined];
  readonly #numbers = new Map<string, number>();

  numberOf({ status, code }: RowVerdict, givenUp?: NotSent): number {
    const kept = status === 'accepted' ? '' : code;
    const key = givenUp === undefined ? `${status} ${kept}` : JSON.stringify(givenUp);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#ends.push({ status, code: kept, ...(givenUp && { givenUp }) }) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  /** Undefined for 0: a row without an end. */
  endOf(number: number): RowEnd | undefined {
    return this.#ends[number];
  }

  /** By number: whether the end is wanted. Covers the ends known so far. */
  select(isWanted: (end: RowEnd) => boolean): readonly boolean[] {
    return this.#ends.map((end) => end !== undefined && isWanted(end));
  }
}

/** Where the outcome of a request stands in the journal, or that of a part of it, and the first planned row that it is for. */
interface OutcomePlace {
  readonly offset: number;
  readonly first: number;
}

/**
 * Where in the journal the outcomes of a step's rows are. A whole request takes 8 bytes; parts of split ones are few.
 * Rows that were settled later take 4 bytes each, near one another.
 */
export class OutcomePlaces {
  /** By the number of the request; 0 for none, since a journal begins with another entry. */
  readonly #offsets: Float64Array;
  readonly #parts = new Map<number, OutcomePlace[]>();
  readonly #settlements: number[] = [];
  /** By planned row: the number, from 1, of its settlement. */
  #settledBy: Uint32Array | undefined;
  readonly #planned: number;

  constructor({ planned, requests }: { planned: number; requests: number }) {
    this.#planned = planned;
    this.#offsets = new Float64Array(requests + 1);
  }

  /** Of one request, whose first planned row is `first`; none where it has no outcome. */
  outcomesOf(request: number, first: number): OutcomePlace[] {
    const offset = this.#offsets[request] ?? 0;
    const parts = this.#parts.get(request) ?? [];
    return offset > 0 ? [...parts, { offset, first }] : parts;
  }

  /** Byte offset of the entry that settled a row which was in doubt; undefined where none did. */
  settlementOf(row: number): number | undefined {
    const number = this.#settledBy?.[row] ?? 0;
    return number === 0 ? undefined : this.#settlements[number - 1];
  }

  addOutcome({ request, part, result }: OutcomeEntry, { rows }: OpenRequest, offset: number): void {
    if (result.kind !== 'settled') return;
    if (part === '') this.#offsets[request] = offset;
    else this.#parts.set(request, [...(this.#parts.get(request) ?? []), { offset, first: rows[0] }]);
  }

  addSettlement({ rows, verdicts }: SettleEntry, offset: number): void {
    this.#settledBy ??= new Uint32Array(this.#planned);
    const number = this.#settlements.push(offset);
    for (const [row, index] of rows) if (verdicts[index] !== undefined) this.#settledBy[row] = number;
  }
}
