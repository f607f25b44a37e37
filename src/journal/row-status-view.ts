import { increment } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import type { RowVerdict, Verdict } from '../domain/row.js';
import type { IntentEntry, JournalEntry, OutcomeEntry, RowRange, SettleEntry } from './entry-format.js';
import { keyOf, type OpenRequest, RunState } from './replay.js';

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
 * What became of each planned row of a run, from its journal, and where that says it. Built by one walk over the entries, in order. Takes
 * four bytes a row, twelve a request, and more for what was moved, split, or settled with ids of the service. Pure.
 */
export class RowStatusView {
  readonly state = new RunState();
  readonly #table = new RowEndTable();
  readonly #steps = new Map<number, StepRows>();
  readonly #movedTo = new Map<number, RowRanges<string>>();
  /** A cache, cleared by each entry. */
  #underWay: Map<number, RowRanges<'alone' | 'with-workers'>> | undefined;

  constructor(steps: readonly StepSize[]) {
    for (const { number, counts } of steps) {
      const [offsets, firsts] = [new Float64Array(counts.requests + 1), new Uint32Array(counts.requests + 1)];
      const ends = new Uint32Array(counts.planned);
      this.#steps.set(number, { ends, ids: new Map(), offsets, firsts, parts: new Map(), sent: { rows: 0, ms: 0 } });
    }
  }

  /** `offset`: of the entry's line in the journal, in bytes. */
  apply({ entry, offset }: { readonly entry: JournalEntry; readonly offset: number }): void {
    this.#underWay = undefined;
    if (entry.type === 'intent') this.#noteSent(entry);
    if (entry.type === 'outcome') {
      const open = this.state.step(entry.step).open.get(keyOf(entry));
      if (open !== undefined) this.#end(entry, open, offset);
    }
    if (entry.type === 'settle') this.#settle(entry);
    if (entry.type === 'retry') {
      for (const [step, ...range] of entry.rows) {
        remember(this.#movedTo, step, () => new RowRanges<string>()).add(range, entry.plan);
      }
    }
    this.state.apply(entry);
  }

  currentStatusOf(step: number, row: number): CurrentRowStatus {
    if (this.movedTo(step, row) !== undefined) return 'moved';
    return this.endOf(step, row)?.status ?? (this.#underWayOf(step, row) === undefined ? 'open' : 'under-way');
  }

  /** The verdict of a row, even if another plan has claimed the row; undefined for a row without one. */
  endOf(step: number, row: number): RowEnd | undefined {
    return this.#table.endOf(this.#steps.get(step)?.ends[row] ?? 0);
  }

  /** The verdict of a row as the outputs have it. */
  standingOf(step: number, row: number, isRepeatable: boolean) {
    const open = this.openVerdictOf(step, row, isRepeatable);
    return this.endOf(step, row) ?? open ?? ({ status: 'unprocessed', code: '' } as const);
  }

  /** What the outputs say of a row without a verdict: one of a request without an outcome may have been sent. Undefined: unprocessed. */
  openVerdictOf(step: number, row: number, isRepeatable: boolean): Verdict | undefined {
    const underWay = isRepeatable ? undefined : this.#underWayOf(step, row);
    return underWay && (underWay === 'alone' ? UNANSWERED : WITH_WORKERS);
  }

  /** The code of the row's verdict, as `RowEnd` has it; '' for a row without one. */
  codeOf(step: number, row: number): string {
    return this.endOf(step, row)?.code ?? '';
  }

  /** Id of the plan that has claimed a row; undefined when it is this run's own. */
  movedTo(step: number, row: number): string | undefined {
    return this.#movedTo.get(step)?.find(row);
  }

  /** Whether an intent for the row has no outcome, and whether it was handed over to a database. */
  #underWayOf(step: number, row: number) {
    this.#underWay ??= rangesUnderWay(this.state);
    return this.#underWay.get(step)?.find(row);
  }

  /** How many of its rows were sent, and in which time without pauses; undefined where none were. */
  sentOf(step: number): Readonly<SentRows> | undefined {
    const sent = this.#steps.get(step)?.sent;
    return sent?.lastMs === undefined ? undefined : sent;
  }

  /** Ids by which a row was settled; undefined where it was not, or without any. */
  settledIds(step: number, row: number): readonly string[] | undefined {
    return this.#steps.get(step)?.ids.get(row);
  }

  /** Where the outcomes of one request, or of its parts, stand; none where it has no outcome. */
  outcomesOf(step: number, request: number): readonly OutcomePlace[] {
    const { offsets, firsts, parts } = this.#steps.get(step) ?? {};
    const offset = offsets?.[request] ?? 0;
    const split = parts?.get(request) ?? [];
    return offset > 0 ? [...split, { offset, first: firsts?.[request] ?? 0 }] : split;
  }

  countInDoubt(): number {
    let count = 0;
    for (const _ of this.listInDoubt()) count += 1;
    return count;
  }

  /** Step and planned row of each in doubt, in their order. */
  listInDoubt(): Generator<{ step: number; row: number }> {
    return this.#list('in-doubt');
  }

  /** Rejected rows that no other plan has claimed, by code. */
  countRejected(): Map<string, number> {
    const codes = new Map<string, number>();
    for (const { step, row } of this.#list('rejected')) {
      if (this.movedTo(step, row) !== undefined) continue;
      increment(codes, this.codeOf(step, row));
    }
    return codes;
  }

  *#list(status: RowEnd['status']): Generator<{ step: number; row: number }> {
    for (const [step, { ends }] of this.#steps) {
      for (let row = 0; row < ends.length; row++) if (this.endOf(step, row)?.status === status) yield { step, row };
    }
  }

  #noteSent({ step: number, at, rows }: IntentEntry): void {
    const { sent } = this.#steps.get(number) ?? {};
    if (sent === undefined) return;
    const { lastMs = at } = sent;
    sent.rows += rows[1];
    // A clock may be set back.
    sent.ms += Math.min(Math.max(0, at - lastMs), LONGEST_PAUSE_MS);
    sent.lastMs = Math.max(lastMs, at);
  }

  #end(
    { step: number, request, part, result }: OutcomeEntry,
    { rows: [first, count] }: OpenRequest,
    offset: number,
  ): void {
    const step = this.#steps.get(number);
    if (step === undefined) return;
    if (result.kind === 'given-up') step.ends.fill(this.#table.numberOf(result.verdict, true), first, first + count);
    if (result.kind !== 'settled') return;
    if (part === '') {
      step.offsets[request] = offset;
      step.firsts[request] = first;
    } else remember(step.parts, request, () => []).push({ offset, first });
    const { verdicts, rows } = result.outcomes;
    const numbers = verdicts.map((verdict) => this.#table.numberOf(verdict, false));
    for (const [at, [index]] of rows.entries()) step.ends[first + at] = numbers[index] ?? 0;
  }

  #settle({ step: number, verdicts, rows }: SettleEntry): void {
    const step = this.#steps.get(number);
    if (step === undefined) return;
    const numbers = verdicts.map((verdict) => this.#table.numberOf(verdict, true));
    for (const [row, index, ...ids] of rows) {
      step.ends[row] = numbers[index] ?? 0;
      // What was not sent has none in the outputs.
      if (ids.length > 0 && verdicts[index]?.status !== 'not-sent') step.ids.set(row, ids);
      else step.ids.delete(row);
    }
  }
}

/** What outputs say of a row whose request has no outcome: sent by a process that died, or under way now. */
const UNANSWERED: Verdict = {
  status: 'in-doubt',
  code: 'run-ended',
  reason: 'Sent, and the run has no answer to it yet',
};

const WITH_WORKERS: Verdict = {
  status: 'in-doubt',
  code: 'with-workers',
  reason: 'Handed over to the database: a worker may have sent it; the same command finds out what came of it',
};

interface StepRows {
  /** The number of each row's end in the table; 0 for none. */
  readonly ends: Uint32Array;
  /** The ids of each row that has some. */
  readonly ids: Map<number, readonly string[]>;
  /** Where the outcome of each request, by number, stands in the journal. 0 for none, since a journal begins with another entry. */
  readonly offsets: Float64Array;
  /** The first row of each request, by number, that has an outcome. */
  readonly firsts: Uint32Array;
  /** The outcomes of a request that was split, by its number. */
  readonly parts: Map<number, OutcomePlace[]>;
  readonly sent: SentRows & { lastMs?: number };
}

/** Rows whose request was begun, one that was sent again once more; of a pause in `ms` a minute counts. */
export interface SentRows {
  rows: number;
  ms: number;
}

const LONGEST_PAUSE_MS = 60_000;

/** Where the outcome of a request stands in the journal, or that of a part of it, and the first planned row that it is for. */
export interface OutcomePlace {
  readonly offset: number;
  readonly first: number;
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
interface RowEnd {
  readonly status: RowVerdict['status'];
  /** '' for accepted rows: their many codes stay in the journal. */
  readonly code: string;
  /** All of it, where the row was settled later, or given up: then no answer to its request says it. */
  readonly decided?: RowVerdict;
}

/** Numbers the distinct ends of a run's rows, from 1. */
export class RowEndTable {
  readonly #ends: (RowEnd | undefined)[] = [undefined];
  readonly #numbers = new Map<string, number>();

  numberOf(verdict: RowVerdict, isDecided: boolean): number {
    const { status } = verdict;
    const code = status === 'accepted' ? '' : verdict.code;
    const key = isDecided ? JSON.stringify(verdict) : `${status} ${code}`;
    return remember(this.#numbers, key, () => {
      return this.#ends.push({ status, code, ...(isDecided && { decided: verdict }) }) - 1;
    });
  }

  /** The end that has a number; undefined for 0: a row without an end. */
  endOf(number: number): RowEnd | undefined {
    return this.#ends[number];
  }
}

/** Values for ranges of rows, looked up by row: few entries for many rows. Ranges do not overlap. */
export class RowRanges<T> {
  #ranges: { readonly first: number; end: number; readonly value: T }[] = [];
  #isSorted = true;

  /** A range that continues the last one with the same value makes it longer. */
  add([first, count]: readonly [first: number, count: number], value: T): void {
    const last = this.#ranges.at(-1);
    if (last !== undefined && last.end === first && last.value === value) {
      last.end += count;
      return;
    }
    this.#isSorted &&= (last?.end ?? 0) <= first;
    this.#ranges.push({ first, end: first + count, value });
  }

  /** The value of the range that has a row; undefined where none has it. */
  find(row: number): T | undefined {
    if (!this.#isSorted) this.#ranges.sort((one, other) => one.first - other.first);
    this.#isSorted = true;
    let low = 0;
    for (let high = this.#ranges.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.end ?? 0) > row) high = middle;
      else low = middle + 1;
    }
    const range = this.#ranges[low];
    return range !== undefined && range.first <= row ? range.value : undefined;
  }
}

/** Makes the last range longer where the row continues it. */
export function addRow(ranges: RowRange[], step: number, row: number): void {
  const [lastStep, first, count] = ranges.at(-1) ?? [0, 0, 0];
  if (lastStep === step && first + count === row) ranges[ranges.length - 1] = [step, first, count + 1];
  else ranges.push([step, row, 1]);
}
