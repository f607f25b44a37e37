import { countOf } from '../../domain/count-of.js';
import type { RowStep } from '../../job/job.js';
import { kindOf } from '../../kinds/kinds.js';
import { acceptNumber } from '../../normalize/number/number.js';
import { CostTally } from '../../prices/cost-tally.js';
import type { PriceList } from '../../prices/price-list.js';
import type { ProblemList } from '../problems.js';
import type { LoadedPrices } from './load-prices.js';

/** Undefined for a step whose rows cost nothing; contacts cost something where the list has prices of contacts. */
export function createCostTally(step: RowStep, list: PriceList): CostTally | undefined {
  const { pricedAs } = kindOf(step);
  if (pricedAs === undefined || (pricedAs === 'contact' && !list.hasContactPrices)) return undefined;
  return new CostTally(list, pricedAs);
}

/** Adds a problem where rows of a step have no price, unless the job lets them count as costing nothing. */
export function refuseMissing(
  costs: CostTally,
  { number, kind }: { readonly number: number; readonly kind: string },
  { prices, problems }: { readonly prices?: LoadedPrices | undefined; readonly problems: ProblemList },
): void {
  const missing = Object.entries(costs.withoutPrice);
  if (prices === undefined || prices.settings.onMissing === 'zero' || missing.length === 0) return;
  const listed = missing.map(
    ([country, rows]) => `${nameMissing(country)} (${countOf(rows, kind === 'contacts' ? 'contact' : 'message')})`,
  );
  problems.add({
    where: prices.planned.file,
    message: `no price for ${listed.join(', ')}, expected one for each country that step ${number} (${kind}) goes to`,
    hint: 'Add them to the list, or write `onMissing: zero` in `prices`: they then count as without a price.',
  });
}

/** `ZZ` has numbers that belong to no country. */
function nameMissing(country: string): string {
  if (country === '') return 'rows without a number';
  return country === 'ZZ' ? 'ZZ, numbers of no country' : country;
}

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
