import type { Files } from '../storage/files.js';
import { type JournalEnd, readJournal } from './reader.js';
import { RowStatusView, type StepSize } from './row-status/row-status-view.js';

/** What became of each planned row of a run, and where its journal ends. One read of the journal: pass its result on. */
export async function readRowStatus(
  files: Files,
  path: string,
  { steps, isForReport }: { readonly steps: readonly StepSize[]; readonly isForReport: boolean },
): Promise<{ rows: RowStatusView; end: JournalEnd }> {
  const rows = new RowStatusView(steps, { isForReport });
  const end = await readJournal(files, path, (line) => rows.apply(line));
  return { rows, end };
}
