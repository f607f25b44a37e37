import { join } from 'node:path';
import type { RowVerdict } from '../domain/row.js';
import { isRowStep } from '../job/job.js';
import type { JournalEntry, RetryEntry, RowRange } from '../journal/entry-format.js';
import { type JournalEnd, readJournal } from '../journal/reader.js';
import { RunState } from '../journal/replay.js';
import { RowRanges } from '../journal/row-status/row-ranges.js';
import { visitRowVerdicts } from '../journal/row-verdicts.js';
import { JOURNAL_FILE, type Plan, type RetryOf } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/** Of a planned row, where it stands now; from `RETRIED` on it can be retried no more by its run. */
const UNTOUCHED = 0;
const REJECTED = 1;
const NOT_SENT = 2;
const GIVEN_UP = 3;
const RETRIED = 4;
/** Accepted, in doubt, or under way. */
const OTHER = 5;

export type RetryChoice = Pick<RetryOf, 'only' | 'codes'>;

/** The verdict of a row that its run gave up, so that another plan may send it. */
export const GAVE_UP = {
  status: 'not-sent',
  code: 'given-up',
  reason: 'Claimed by `volley retry`, for a plan that has not been made yet',
} as const;

/** The planned rows of a run by what can be retried of them: 3 bytes a row of the steps that have rows. */
export class RetryRows {
  readonly state = new RunState();
  /** Rejected rows that are this run's own, by code. */
  readonly codes = new Map<string, number>();
  /** Rows of requests without an outcome: only when the run goes on, it is known whether they were processed. */
  underWay = 0;
  /** Rows by the plan that they were given to, as they were given. */
  readonly given = new Map<string, RetryEntry>();
  readonly #givenTo = new Map<number, RowRanges<string>>();
  readonly #steps = new Map<number, { marks: Uint8Array; codes: Uint16Array }>();
  readonly #codeNames: string[] = [''];

  static async read(files: Files, directory: string, plan: Plan): Promise<{ rows: RetryRows; end: JournalEnd }> {
    const rows = new RetryRows(plan);
    const end = await readJournal(files, join(directory, JOURNAL_FILE), ({ entry }) => rows.#apply(entry));
    rows.#finish();
    return { rows, end };
  }

  private constructor(plan: Plan) {
    for (const { number, counts } of plan.steps) {
      const step = plan.job.steps[number - 1];
      if (step === undefined || !isRowStep(step)) continue;
      this.#steps.set(number, { marks: new Uint8Array(counts.planned), codes: new Uint16Array(counts.planned) });
    }
  }

  /** Rows that another plan has. */
  get retried(): number {
    let count = 0;
    for (const { marks } of this.#steps.values()) for (const mark of marks) if (mark === RETRIED) count += 1;
    return count;
  }

  /** Whether its run holds a row to be refused, and still has it. */
  isRejected(step: number, row: number): boolean {
    return this.#steps.get(step)?.marks[row] === REJECTED;
  }

  /** Whether its run has yet to send a row. */
  isUntouched(step: number, row: number): boolean {
    return this.#steps.get(step)?.marks[row] === UNTOUCHED;
  }

  /** Id of the plan that a row was given to; undefined where it is this run's own. */
  givenTo(step: number, row: number): string | undefined {
    return this.#givenTo.get(step)?.find(row);
  }

  /** Chosen rows that are told to be not sent, though something else shows that they were: they are chosen no more. Gives their count. */
  async leaveOutSent(choice: RetryChoice, wasSent: (step: number, row: number) => Promise<boolean>): Promise<number> {
    const isChosen = this.isChosen(choice);
    let count = 0;
    for (const [number, { marks }] of this.#steps) {
      for (const row of marks.keys()) {
        if (!isChosen(number, row) || !(await wasSent(number, row))) continue;
        marks[row] = OTHER;
        count += 1;
      }
    }
    return count;
  }

  /** Whether a row is one of those that are chosen. */
  isChosen({ only, codes }: RetryChoice): (step: number, row: number) => boolean {
    const wanted = new Set(codes);
    const fits = (mark: number | undefined, code: number | undefined) => {
      if (only === 'unprocessed') return mark === UNTOUCHED || mark === GIVEN_UP;
      if (only === 'not-sent') return mark === NOT_SENT;
      return mark === REJECTED && (wanted.size === 0 || wanted.has(this.#codeNames[code ?? 0] ?? ''));
    };
    return (number, row) => {
      const step = this.#steps.get(number);
      return step !== undefined && fits(step.marks[row], step.codes[row]);
    };
  }

  /** The chosen rows, as few ranges as there can be. */
  choose(choice: RetryChoice): RowRange[] {
    const isChosen = this.isChosen(choice);
    const ranges: RowRange[] = [];
    for (const [number, { marks }] of this.#steps) {
      let first = -1;
      for (let row = 0; row <= marks.length; row++) {
        const isIn = row < marks.length && isChosen(number, row);
        if (isIn && first === -1) first = row;
        if (isIn || first === -1) continue;
        ranges.push([number, first, row - first]);
        first = -1;
      }
    }
    return ranges;
  }

  #apply(entry: JournalEntry): void {
    visitRowVerdicts(entry, this.state, ({ step, row, verdict }) => this.#mark(step, row, verdict));
    if (entry.type === 'retry') {
      this.given.set(entry.plan, entry);
      for (const [step, first, count] of entry.rows) {
        this.#steps.get(step)?.marks.fill(RETRIED, first, first + count);
        const ranges = this.#givenTo.get(step) ?? new RowRanges<string>();
        this.#givenTo.set(step, ranges);
        ranges.add([first, count], entry.plan);
      }
    }
    this.state.apply(entry);
  }

  #mark(number: number, row: number, verdict: RowVerdict | undefined): void {
    const step = this.#steps.get(number);
    if (step === undefined || verdict === undefined) return;
    step.marks[row] = markOf(verdict);
    if (verdict.status === 'rejected') step.codes[row] = this.#codeOf(verdict.code);
  }

  #codeOf(code: string): number {
    const known = this.#codeNames.indexOf(code);
    return known === -1 ? this.#codeNames.push(code) - 1 : known;
  }

  /** What is under way may have been processed, or is sent again by its run. */
  #finish(): void {
    for (const [number, { open }] of this.state.steps) {
      const marks = this.#steps.get(number)?.marks;
      for (const { isInFlight, rows } of open.values()) {
        if (!isInFlight) continue;
        marks?.fill(OTHER, rows[0], rows[0] + rows[1]);
        this.underWay += rows[1];
      }
    }
    for (const { marks, codes } of this.#steps.values()) {
      for (const [row, mark] of marks.entries()) {
        if (mark !== REJECTED) continue;
        const name = this.#codeNames[codes[row] ?? 0] ?? '';
        this.codes.set(name, (this.codes.get(name) ?? 0) + 1);
      }
    }
  }
}

function markOf({ status, code }: RowVerdict): number {
  if (status === 'rejected') return REJECTED;
  if (status !== 'not-sent') return OTHER;
  return code === GAVE_UP.code ? GIVEN_UP : NOT_SENT;
}
