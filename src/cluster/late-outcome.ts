import { join } from 'node:path';
import type { RowOutcomes } from '../domain/row.js';
import type { SettleEntry } from '../journal/entry-format.js';
import { readJournal } from '../journal/reader.js';
import { JOURNAL_FILE } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';
import type { EndedAttempt } from './store.js';

type IsSettled = (row: { readonly step: number; readonly row: number }) => boolean;

/**
 * Of a run: which rows are in doubt no more. A leader may have died after it settled a row and before it could say so, and a person
 * may have settled it.
 */
export async function readSettledRows(files: Files, directory: string): Promise<IsSettled> {
  const settled = new Set<string>();
  await readJournal(files, join(directory, JOURNAL_FILE), ({ entry }) => {
    if (entry.type === 'settle') for (const [row] of entry.rows) settled.add(`${entry.step}/${row}`);
  });
  return ({ step, row }) => settled.has(`${step}/${row}`);
}

/** The answer of a worker that was taken for lost, for rows that are in doubt since. */
export function lateOutcome(
  { step, at, rows: [first] }: EndedAttempt,
  outcomes: RowOutcomes,
  isSettled: IsSettled,
): SettleEntry {
  const rows = outcomes.rows.map(([verdict, ...ids], index) => [first + index, verdict, ...ids] as const);
  const inDoubt = rows.filter(([row]) => !isSettled({ step, row }));
  return { type: 'settle', step, at, by: 'answer', verdicts: outcomes.verdicts, rows: inDoubt };
}
