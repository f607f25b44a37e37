import { format } from '../domain/count-of.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { formatAmount, formatMoney } from '../prices/decimal.js';
import type { StepCost } from '../prices/step-cost.js';

/** What a step costs, by country; what has no price. Nothing for a step without prices. */
export function describeCost(
  { cost }: Pick<PlannedStep, 'cost'>,
  { currency = '' }: { readonly currency: string | undefined },
  mostCountries: number,
): string[] {
  if (cost === undefined) return [];
  return [
    `costs ${formatMoney(cost.total, currency)}${listCountries(cost, mostCountries)}`,
    ...describeMissing(cost, mostCountries),
  ];
}

/** One country is named with the messages already. */
function listCountries({ countries }: StepCost, most: number): string {
  const priced = Object.entries(countries).filter(([, { cost }]) => cost !== '0.00');
  if (priced.length < 2) return '';
  const listed = priced.slice(0, most).map(([country, { cost }]) => `${country} ${formatAmount(cost)}`);
  const more = priced.length - listed.length;
  return `: ${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

function describeMissing({ withoutPrice }: StepCost, most: number): string[] {
  const missing = Object.entries(withoutPrice);
  if (missing.length === 0) return [];
  const rows = missing.reduce((sum, [, count]) => sum + count, 0);
  const listed = missing.slice(0, most).map(([country]) => (country === '' ? 'without a number' : country));
  const more = missing.length - listed.length;
  return [`${format(rows)} without a price: ${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`];
}
