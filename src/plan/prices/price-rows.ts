import type { RowStep } from '../../job/job.js';
import { acceptNumber } from '../../normalize/number/number.js';
import type { PriceList } from '../../prices/price-list.js';
import { createCostTally } from './missing-prices.js';

/** A planned row: its E.164 number, if it has one, and its facts. */
interface RowToPrice {
  readonly number: string | undefined;
  readonly facts: readonly string[];
}

/** Prices rows of a step one by one, as the plan prices all of them: null without a price. Undefined for a step whose rows cost nothing. */
export function createRowPricer(step: RowStep, list: PriceList): ((row: RowToPrice) => string | null) | undefined {
  const costs = createCostTally(step, list);
  if (costs === undefined) return undefined;
  return ({ number, facts }) => {
    const accepted = number === undefined ? undefined : acceptNumber(number, undefined);
    const group = costs.add({
      country: accepted?.country,
      number: accepted && Number(accepted.e164.slice(1)),
      parts: countParts(step, facts),
      extraParts: 0,
      characters: undefined,
    });
    return costs.figures().groups[group]?.rowCost ?? null;
  };
}

function countParts({ kind }: RowStep, [, segments]: readonly string[]): number {
  if (kind === 'sms') return Number(segments);
  return kind === 'contacts' ? 0 : 1;
}
