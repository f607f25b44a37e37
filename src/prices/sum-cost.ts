import { formatDecimal, readNanos } from './decimal.js';
import type { StepCost } from './step-cost.js';

/** What all steps of a plan cost together. */
export function sumCost(steps: readonly { readonly cost?: Pick<StepCost, 'total'> }[]): string {
  return formatDecimal(steps.reduce((sum, { cost }) => sum + (cost === undefined ? 0n : readNanos(cost.total)), 0n));
}
