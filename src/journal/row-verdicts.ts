import type { RowVerdict } from '../domain/row.js';
import type { JournalEntry } from './entry-format.js';
import { keyOf, type RunState } from './replay.js';

export interface RowWord {
  readonly step: number;
  /** Index among the step's planned rows. */
  readonly row: number;
  readonly verdict: RowVerdict | undefined;
  /** What told it, for a row that was in doubt; undefined: its request's own outcome. */
  readonly by: string | undefined;
}

/** Tells what an entry of the journal says of single rows. `state` is that before the entry. */
export function visitRowVerdicts(entry: JournalEntry, state: RunState, visit: (word: RowWord) => void): void {
  if (entry.type === 'settle') {
    const { step, by } = entry;
    for (const [row, index] of entry.rows) visit({ step, row, verdict: entry.verdicts[index], by });
  }
  if (entry.type !== 'outcome') return;
  const { step, result } = entry;
  const range = state.step(step).open.get(keyOf(entry))?.rows;
  if (range === undefined) return;
  const [first, count] = range;
  if (result.kind === 'settled') {
    const { verdicts, rows } = result.outcomes;
    for (const [at, [index]] of rows.entries())
      visit({ step, row: first + at, verdict: verdicts[index], by: undefined });
  }
  if (result.kind === 'given-up') {
    for (let row = first; row < first + count; row++) visit({ step, row, verdict: result.verdict, by: undefined });
  }
}
