import type { RowPlanner } from './kind.js';

/** A planner of which each row is a request, and its fragment the body. */
export function planRowByRow(bind: RowPlanner['bind']): RowPlanner {
  return {
    rowsPerRequest: 1,
    segmentsPerRequest: Number.POSITIVE_INFINITY,
    bind,
    openBody: () => '',
    closeBody: '',
  };
}
