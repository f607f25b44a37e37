import type { RowOutcomes } from '../domain/row.js';
import type { SettleEntry } from '../journal/entry-format.js';
import type { EndedAttempt } from './store.js';

/** The answer of a worker that was taken for lost, for rows that are in doubt since. */
export function lateOutcome({ step, at, rows: [first] }: EndedAttempt, outcomes: RowOutcomes): SettleEntry {
  const rows = outcomes.rows.map(([verdict, ...ids], index) => [first + index, verdict, ...ids] as const);
  return { type: 'settle', step, at, by: 'answer', verdicts: outcomes.verdicts, rows };
}
