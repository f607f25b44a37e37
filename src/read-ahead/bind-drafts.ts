import type { RowStep } from '../job/job.js';
import { findColumn } from '../read/columns.js';
import type { DraftRow } from '../steps/kind.js';
import { kindOf } from '../steps/table.js';

/** Undefined where the step's rows have no drafts; a column that is not there is told by whoever plans. */
export function bindDrafts(step: RowStep, columns: readonly string[]): DraftRow | undefined {
  const bound = kindOf(step).createDrafter?.(step).bind(columns, findColumn);
  return typeof bound === 'function' ? bound : undefined;
}
