import { join } from 'node:path';
import type { JournalEnd } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import type { RowStatusView, StepSize } from '../journal/row-status/row-status-view.js';
import { readRowStatus } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/** A run as read from its journal. Valid under the job's lock, until something is appended. */
export interface RunRows {
  readonly directory: string;
  readonly plan: Plan;
  readonly rows: RowStatusView;
  readonly state: RunState;
  readonly end: JournalEnd;
}

/**
 * Reads the journal of a run: once per command, which passes the result on. `report`: where outcomes
 * stand and how fast rows were sent, for reports.
 */
export async function readRunRows(
  files: Files,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
  keeps: { readonly report?: boolean } = {},
): Promise<RunRows> {
  const steps = listStepSizes(plan);
  const path = join(directory, JOURNAL_FILE);
  const { rows, end } = await readRowStatus(files, path, { steps, isForReport: keeps.report === true });
  return { directory, plan, rows, state: rows.state, end };
}

/** For a view of what became of the rows. */
export function listStepSizes({ steps }: Plan): StepSize[] {
  return steps.map(({ number, counts: { planned, requests } }) => ({ number, planned, requests }));
}
