import { remember } from '../../domain/is-object.js';
import type { NotSent, RowVerdict } from '../../domain/row.js';
import type { JournalEntry, OutcomeEntry, RowRange, SettleEntry } from '../entry-format.js';
import { keyOf, type OpenRequest, RunState } from '../replay.js';
import { addRow, RowRanges } from './row-ranges.js';
import { SendRate, type SendRateSeries } from './send-rate.js';

/**
 * What became of a planned row: `open`, its run has yet to send it; `under-way`, its request has an intent and no
 * outcome; a verdict; `moved`, another plan has claimed it, whatever it was before.
 */
export type CurrentRowStatus = 'open' | 'under-way' | RowVerdict['status'] | 'moved';

/** What of a plan it needs. */
export type StepSize = {
  readonly number: number;
  readonly counts: { readonly planned: number; readonly requests: number };
};

/**
 * What became of each planned row of a run, from its journal. Built by one walk over the entries, in order. Takes four
 * bytes a row, and ranges for what was moved. Pure.
 */
export class RowStatusView {
  readonly state = new RunState();
  readonly #table = new RowEndTable();
  readonly #steps = new Map<number, StepRows>();
  readonly #movedTo = new Map<number, RowRanges<string>>();
  /** A cache, cleared by each entry. */
  #underWay: Map<number, RowRanges<'alone' | 'with-workers'>> | undefined;

  /** `isForReport`: whether to keep what reports need: `placesOf` and `rateOf`. */
  constructor(steps: readonly StepSize[], { isForReport }: { isForReport: boolean }) {
    for (const { number, counts } of steps) {
      this.#steps.set(number, {
        ends: new Uint32Array(counts.planned),
        places: isForReport ? new OutcomePlaces(counts) : undefined,
        rate: isForReport ? new SendRate() : undefined,
      });
    }
  }

  /** `offset`: of the entry's line in the journal, in bytes. */
  apply({ entry, offset }: { readonly entry: JournalEntry; readonly offset: number }): void {
    this.#underWay = undefined;
    if (entry.type === 'intent') this.#steps.get(entry.step)?.rate?.add(entry.at, entry.rows[1]);
    if (entry.type === 'outcome') {
      const open = this.state.step(entry.step).open.get(keyOf(entry));
      if (open !== undefined) this.#end(entry, open, offset);
    }
    if (entry.type === 'settle') this.#settle(entry, offset);
    if (entry.type === 'retry') {
      for (const [step, ...range] of entry.rows) {
        remember(this.#movedTo, step, () => new RowRanges<string>()).add(range, entry.plan);
      }
    }
    this.state.apply(entry);
  }

  currentStatusOf(step: number, row: number): CurrentRowStatus {
    if (this.movedTo(step, row) !== undefined) return 'moved';
    return this.endOf(step, row)?.status ?? (this.isUnderWay(step, row) ? 'under-way' : 'open');
  }

  /** Its verdict, also of a row that another plan has claimed; undefined for a row without one. */
  endOf(step: number, row: number): RowEnd | undefined {
    return this.#table.endOf(this.#steps.get(step)?.ends[row] ?? 0);
  }

  /** As the outputs have it: a row of a request without an outcome may have been sent. */
  standingOf(step: number, row: number, isRepeatable: boolean) {
    const isOpen = !isRepeatable && this.isUnderWay(step, row);
    const open = isOpen
      ? ({ status: 'in-doubt', code: 'run-ended' } as const)
      : ({ status: 'unprocessed', code: '' } as const);
    return this.endOf(step, row) ?? open;
  }

  /** Of the row's verdict, as `RowEnd` has it; '' for a row without one. */
  codeOf(step: number, row: number): string {
    return this.endOf(step, row)?.code ?? '';
  }

  /** Id of the plan that has claimed a row; undefined when it is this run's own. */
  movedTo(step: number, row: number): string | undefined {
    return this.#movedTo.get(step)?.find(row);
  }

  /** Also where a person decided so. */
  isAccepted(step: number, row: number): boolean {
    return this.endOf(step, row)?.status === 'accepted';
  }

  isInDoubt(step: number, row: number): boolean {
    return this.endOf(step, row)?.status === 'in-doubt';
  }

  /** Whether an intent for the row has no outcome: it may have been processed. */
  isUnderWay(step: number, row: number): boolean {
    return this.#underWayOf(step, row) !== undefined;
  }

  /** Under way, and handed over to a database. */
  isWithWorkers(step: number, row: number): boolean {
    return this.#underWayOf(step, row) === 'with-workers';
  }

  #underWayOf(step: number, row: number) {
    this.#underWay ??= rangesUnderWay(this.state);
    return this.#underWay.get(step)?.find(row);
  }

  /** How fast its rows were sent; undefined where none were, and unless it is for a report. */
  rateOf(step: number): SendRateSeries | undefined {
    return this.#steps.get(step)?.rate?.series;
  }

  /** Whether a row was decided without an answer to its request: settled later, or given up. For reports alone. */
  isDecidedLater(step: number, row: number): boolean {
    return this.placesOf(step)?.settlementOf(row) !== undefined || this.endOf(step, row)?.givenUp !== undefined;
  }

  /** Undefined unless it is for a report. */
  placesOf(step: number): OutcomePlaces | undefined {
    return this.#steps.get(step)?.places;
  }

  /** How many rows are in doubt. */
  countInDoubt(): number {
    let count = 0;
    for (const _ of this.listInDoubt()) count += 1;
    return count;
  }

  /** Step and planned row of each in doubt, in their order. */
  listInDoubt(): Generator<{ step: number; row: number }> {
    return this.#list(({ status }) => status === 'in-doubt');
  }

  /** Rejected rows that no other plan has claimed, by code. */
  countRejected(): Map<string, number> {
    const codes = new Map<string, number>();
    for (const { step, row } of this.#list(({ status }) => status === 'rejected')) {
      if (this.movedTo(step, row) !== undefined) continue;
      const code = this.codeOf(step, row);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    return codes;
  }

  /** Rows that other plans have claimed. */
  countMoved(): number {
    let count = 0;
    for (const { retriedRows } of this.state.steps.values()) count += retriedRows.rejected + retriedRows['not-sent'];
    return count;
  }

  /** The rows for which it holds, in as few ranges as possible, step by step. */
  listRanges(isWanted: (step: number, row: number) => boolean): RowRange[] {
    const ranges: RowRange[] = [];
    for (const [step, { ends }] of this.#steps) {
      for (let row = 0; row < ends.length; row++) if (isWanted(step, row)) addRow(ranges, step, row);
    }
    return ranges;
  }

  *#list(isWanted: (end: RowEnd) => boolean): Generator<{ step: number; row: number }> {
    const wanted = this.#table.select(isWanted);
    if (!wanted.includes(true)) return;
    for (const [step, { ends }] of this.#steps) {
      for (let row = 0; row < ends.length; row++) if (wanted[ends[row] ?? 0]) yield { step, row };
    }
  }

  #end(entry: OutcomeEntry, open: OpenRequest, offset: number): void {
    const step = this.#steps.get(entry.step);
    if (step === undefined) return;
    step.places?.addOutcome(entry, open, offset);
    const { result } = entry;
    const [first, count] = open.rows;
    if (result.kind === 'given-up')
      step.ends.fill(this.#table.numberOf(result.verdict, result.verdict), first, first + count);
    if (result.kind !== 'settled') return;
    const { verdicts, rows } = result.outcomes;
    const numbers = verdicts.map((verdict) => this.#table.numberOf(verdict));
    let row = first;
    for (const [index] of rows) {
      const number = numbers[index];
      if (number !== undefined) step.ends[row] = number;
      row += 1;
    }
  }

  #settle(entry: SettleEntry, offset: number): void {
    const step = this.#steps.get(entry.step);
    if (step === undefined) return;
    step.places?.addSettlement(entry, offset);
    const numbers = entry.verdicts.map((verdict) => this.#table.numberOf(verdict));
    for (const [row, index] of entry.rows) {
      const number = numbers[index];
      if (number !== undefined) step.ends[row] = number;
    }
  }
}

interface StepRows {
  /** The number of each row's end in the table; 0 for none. */
  readonly ends: Uint32Array;
  readonly places: OutcomePlaces | undefined;
  readonly rate: SendRate | undefined;
}

function rangesUnderWay({ steps }: RunState): Map<number, RowRanges<'alone' | 'with-workers'>> {
  const ranges = new Map<number, RowRanges<'alone' | 'with-workers'>>();
  for (const [number, { open }] of steps) {
    for (const { isInFlight, rows, lead } of open.values()) {
      if (!isInFlight) continue;
      remember(ranges, number, () => new RowRanges<'alone' | 'with-workers'>()).add(
        rows,
        lead === undefined ? 'alone' : 'with-workers',
      );
    }
  }
  return ranges;
}

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
