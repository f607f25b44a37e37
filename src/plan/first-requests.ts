/**
 * The first requests of a step hold few rows, so that a wrong job shows early: `maxFailedPercent` counts from 100
 * answers, and an outage at the start costs ten rows. The run sends each of them alone (run/send/caution.ts).
 */
export const FIRST_REQUESTS_ROWS: readonly number[] = [10, 100];

/** The most rows of a request, by its number from 1. */
export function boundRows(request: number, rowsPerRequest: number): number {
  return Math.min(rowsPerRequest, FIRST_REQUESTS_ROWS[request - 1] ?? rowsPerRequest);
}
