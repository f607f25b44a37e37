import type { NotSent } from '../../domain/row.js';
import type { OutcomeEntry, SettleEntry } from '../entry-format.js';
import type { OpenRequest } from '../replay.js';
import { RowRanges } from './row-ranges.js';

/** Where the outcome of a request stands in the journal, or that of a part of it, and the first planned row that it is for. */
export interface OutcomePlace {
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
  readonly #givenUp = new RowRanges<NotSent>();
  /** Equal values are shared. */
  readonly #notSent = new Map<string, NotSent>();
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

  /** Whether a row was decided without an answer to its request: settled later, or given up. */
  isSettled(row: number): boolean {
    return (this.#settledBy?.[row] ?? 0) > 0 || this.givenUp(row) !== undefined;
  }

  /** Byte offset of the entry that settled a row which was in doubt; undefined where none did. */
  settlementOf(row: number): number | undefined {
    const number = this.#settledBy?.[row] ?? 0;
    return number === 0 ? undefined : this.#settlements[number - 1];
  }

  /** Why a given-up row is not sent; undefined for any other. */
  givenUp(row: number): NotSent | undefined {
    return this.#givenUp.find(row);
  }

  addOutcome({ request, part, result }: OutcomeEntry, { rows }: OpenRequest, offset: number): void {
    if (result.kind === 'given-up') {
      const key = JSON.stringify(result.verdict);
      const verdict = this.#notSent.get(key) ?? result.verdict;
      this.#notSent.set(key, verdict);
      this.#givenUp.add(rows, verdict);
    }
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
