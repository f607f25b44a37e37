import { isWithheld } from '../domain/row-codes.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import type { RetryOf } from '../plan/format/plan-file.js';

export type RetryChoice = Pick<RetryOf, 'only' | 'codes'>;

/** The verdict of a row that its run gave up, so that another plan may send it. */
export const GAVE_UP = {
  status: 'not-sent',
  code: 'given-up',
  reason: 'Claimed by `volley retry`, for a plan that has not been made yet',
} as const;

/** Whether a planned row is one of those that are chosen, and its run still has it. */
export function createChooser(
  rows: RowStatusView,
  { only, codes }: RetryChoice,
): (step: number, row: number) => boolean {
  const wanted = new Set(codes);
  return (step, row) => {
    const standing = rows.currentStatusOf(step, row);
    if (only === 'rejected')
      return standing === 'rejected' && (wanted.size === 0 || wanted.has(rows.codeOf(step, row)));
    const code = standing === 'not-sent' ? rows.codeOf(step, row) : '';
    const isGivenUp = code === GAVE_UP.code || isWithheld(code);
    if (only === 'unprocessed') return standing === 'open' || isGivenUp;
    return standing === 'not-sent' && !isGivenUp;
  };
}
