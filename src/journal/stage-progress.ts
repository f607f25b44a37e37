import type { RowCounts, StageEntry } from './entry-format.js';

/** How far a step is in its stages: of a step that has none, all of it is the first. Pure. */
export interface StageProgress {
  /** Rows with a verdict since the last stage passed, by status: that which they got first. One that is in doubt stays so here. */
  rows: RowCounts;
  /** When the last of them got it; 0 where none did. */
  lastOutcomeAt: number;
  /** How many stages have passed. */
  passed: number;
  /** The stage that waits for a person; null where none does. */
  waiting: StageEntry | null;
}

export function noRows(): RowCounts {
  return { accepted: 0, rejected: 0, 'in-doubt': 0, 'not-sent': 0 };
}

export function beginStage(passed: number): StageProgress {
  return { rows: noRows(), lastOutcomeAt: 0, passed, waiting: null };
}

export function addRows(counts: RowCounts, more: RowCounts): void {
  for (const status of Object.keys(more) as (keyof RowCounts)[]) counts[status] += more[status];
}

export function endStage(entry: StageEntry, stage: StageProgress): StageProgress {
  return entry.verdict === 'passed' ? beginStage(entry.number) : { ...stage, waiting: entry };
}
