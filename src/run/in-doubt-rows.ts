import { join } from 'node:path';
import type { Verdict } from '../domain.js';
import type { Files } from '../files.js';
import type { JournalEntry } from '../journal/format.js';
import { type JournalEnd, readJournal } from '../journal/reader.js';
import { keyOf, RunState } from '../journal/replay.js';
import { JOURNAL_FILE, type Plan } from '../plan/file.js';

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

  /** Step and planned row of each, in their order. */
  *list(): Generator<{ step: number; row: number }> {
    for (const [step, marks] of [...this.#steps].sort(([one], [other]) => one - other)) {
      for (let row = marks.indexOf(IN_DOUBT); row !== -1; row = marks.indexOf(IN_DOUBT, row + 1)) yield { step, row };
    }
  }

  #apply(entry: JournalEntry): void {
    if (entry.type === 'outcome' && entry.result.kind === 'settled') {
      const first = this.state.step(entry.step).open.get(keyOf(entry))?.rows[0];
      const { verdicts, rows } = entry.result.outcomes;
      if (first !== undefined)
        for (const [at, [index]] of rows.entries()) this.#mark(entry.step, first + at, verdicts[index]);
    }
    if (entry.type === 'settle') {
      for (const [row, index] of entry.rows) this.#mark(entry.step, row, entry.verdicts[index]);
    }
    this.state.apply(entry);
  }

  #mark(step: number, row: number, verdict: Verdict | undefined): void {
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
