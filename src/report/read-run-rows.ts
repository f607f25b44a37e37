import { join } from 'node:path';
import { type JournalEnd, readJournal } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import { RowStatusView } from '../journal/row-status/row-status-view.js';
import { JOURNAL_FILE, type PlanAt } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/** A run as read from its journal. Valid under the job's lock, until something is appended. */
export interface RunRows extends PlanAt {
  readonly rows: RowStatusView;
  readonly state: RunState;
  readonly end: JournalEnd;
}

/** Reads the journal of a run: once per command, which passes the result on. */
export async function readRunRows(files: Files, { directory, plan }: PlanAt): Promise<RunRows> {
  const rows = new RowStatusView(plan.steps);
  const end = await readJournal(files, join(directory, JOURNAL_FILE), (line) => rows.apply(line));
  return { directory, plan, rows, state: rows.state, end };
}
