import type { RowPlanner } from './step-kind.js';

/** Of a planner of which each row is a request, and its fragment the body. */
export const ROW_BY_ROW: Pick<RowPlanner, 'rowsPerRequest' | 'segmentsPerRequest' | 'openBody' | 'closeBody'> = {
  rowsPerRequest: 1,
  segmentsPerRequest: Number.POSITIVE_INFINITY,
  openBody: () => '',
  closeBody: '',
};
