import type { RowStep } from '../../job/job.js';
import { kindOf } from '../../kinds/kinds.js';
import type { DraftRow } from '../../kinds/step-kind.js';
import { findColumn } from '../own-columns.js';

/** Undefined where the step's rows have no drafts; the planner reports missing columns. */
export function bindDrafts(step: RowStep, columns: readonly string[]): DraftRow | undefined {
  const bound = kindOf(step).createDrafter?.(step).bind(columns, findColumn);
  return typeof bound === 'function' ? bound : undefined;
}
