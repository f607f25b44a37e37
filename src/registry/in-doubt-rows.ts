import { join } from 'node:path';
import type { RowVerdict } from '../domain/row.js';
import { isRowStep } from '../job/job.js';
import type { JournalEntry } from '../journal/entry-format.js';
import { type JournalEnd, readJournal } from '../journal/reader.js';
import { RunState } from '../journal/replay.js';
import { visitRowVerdicts } from '../journal/row-verdicts.js';
import { kindOf } from '../kinds/kinds.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/**
 * The rows of a run that its journal holds to be in doubt, one byte a planned row of the steps that have any. A row of a
 * request without an outcome is not among them: its runner, or the next one, has yet to say what came of it.
 */
export class InDoubtRows {
  readonly state = new RunState();
  readonly #plan: Plan;
  readonly #steps = new Map<number, Uint8Array>();

  static async read(files: Files, directory: string, plan: Plan): Promise<{ rows: InDoubtRows; end: JournalEnd }> {
    const rows = new InDoubtRows(plan);
    const end = await readJournal(files, join(directory, JOURNAL_FILE), (line) => rows.#apply(line.entry));
    return { rows, end };
  }

  private constructor(plan: Plan) {
    this.#plan = plan;
  }

  get count(): number {
    let count = 0;
    for (const marks of this.#steps.values()) for (const mark of marks) count += mark;
    return count;
  }

  has(step: number, row: number): boolean {
    return this.#steps.get(step)?.[row] === IN_DOUBT;
  }

  get underWay(): number {
    return countUnderWay(this.state, this.#plan);
  }

  /** Step and planned row of each, in their order. */
  *list(): Generator<{ step: number; row: number }> {
    for (const [step, marks] of [...this.#steps].sort(([one], [other]) => one - other)) {
      for (let row = marks.indexOf(IN_DOUBT); row !== -1; row = marks.indexOf(IN_DOUBT, row + 1)) yield { step, row };
    }
  }

  #apply(entry: JournalEntry): void {
    visitRowVerdicts(entry, this.state, ({ step, row, verdict }) => this.#mark(step, row, verdict));
    this.state.apply(entry);
  }

  #mark(step: number, row: number, verdict: RowVerdict | undefined): void {
    const marks = this.#steps.get(step);
    if (verdict?.status !== 'in-doubt') {
      if (marks !== undefined) marks[row] = 0;
      return;
    }
    if (marks !== undefined) {
      marks[row] = IN_DOUBT;
      return;
    }
    const rows = this.#plan.steps.find(({ number }) => number === step)?.counts.planned ?? 0;
    const made = new Uint8Array(rows);
    made[row] = IN_DOUBT;
    this.#steps.set(step, made);
  }
}

const IN_DOUBT = 1;

/** Rows of requests without an outcome that may have been processed: the next runner puts them in doubt, or asks. */
export function countUnderWay({ steps }: RunState, { job }: Plan): number {
  let count = 0;
  for (const [number, { open }] of steps) {
    const step = job.steps[number - 1];
    if (step === undefined || !isRowStep(step) || kindOf(step).isRepeatable(step)) continue;
    for (const { isInFlight, rows } of open.values()) if (isInFlight) count += rows[1];
  }
  return count;
}
