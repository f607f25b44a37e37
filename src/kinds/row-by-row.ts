import type { RowPlanner } from './step-kind.js';

/** For a planner with one row a request, whose fragment is the body. */
export const ROW_BY_ROW: Pick<RowPlanner, 'rowsPerRequest' | 'segmentsPerRequest' | 'openBody' | 'closeBody'> = {
  rowsPerRequest: 1,
  segmentsPerRequest: Number.POSITIVE_INFINITY,
  openBody: () => '',
  closeBody: '',
};
