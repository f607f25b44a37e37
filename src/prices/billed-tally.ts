import type { StepCost } from './cost-tally.js';
import { formatDecimal, formatMoney, readNanos } from './decimal.js';

/** What a step costs by its price list: all planned rows, and those that were accepted. */
export interface StepCostSummary {
  planned: string;
  accepted: string;
  withoutPrice: number;
}

/** Adds up what the accepted rows of a step cost, each by its group in the plan. */
export function createAcceptedCost({ groups, total }: StepCost) {
  const counts = groups.map(() => 0);
  return {
    add(group = 0): void {
      counts[group] = (counts[group] ?? 0) + 1;
    },
    figures(): StepCostSummary {
      let [nanos, withoutPrice] = [0n, 0];
      for (const [at, { rowCost }] of groups.entries()) {
        const rows = counts[at] ?? 0;
        if (rowCost === null) withoutPrice += rows;
        else nanos += readNanos(rowCost) * BigInt(rows);
      }
      return { planned: total, accepted: formatDecimal(nanos), withoutPrice };
    },
  };
}

/** What receipts say that messages cost, against what the plan said of the same messages. */
export interface Billed {
  messages: number;
  /** Messages whose newest receipt names a price: undelivered ones are not charged. */
  priced: number;
  amounts: Record<string, string>;
  /** By the job's price list, for the messages with a receipt; null for a step without prices. */
  forecast: string | null;
  /** SMS parts of the messages whose receipt names them. */
  parts: number;
  plannedParts: number;
}

interface Receipted {
  readonly parts: number | undefined;
  readonly price: { readonly total: bigint; readonly currency: string } | undefined;
}

/** Adds up the newest receipts of a step's messages. */
export function createBilledTally(planned: StepCost | undefined) {
  const forecast = planned && createAcceptedCost(planned);
  const amounts = new Map<string, bigint>();
  let [messages, priced, parts, plannedParts] = [0, 0, 0, 0];
  return {
    add(receipt: Receipted, planned: { parts: number; costGroup: number | undefined }): void {
      messages += 1;
      forecast?.add(planned.costGroup);
      if (receipt.parts !== undefined) {
        parts += receipt.parts;
        plannedParts += planned.parts;
      }
      if (receipt.price === undefined) return;
      const { currency, total } = receipt.price;
      priced += 1;
      amounts.set(currency, (amounts.get(currency) ?? 0n) + total);
    },
    /** What the receipts say; undefined where they name neither price nor parts. */
    figures(): Billed | undefined {
      if (priced === 0 && parts === 0) return undefined;
      const accepted = forecast?.figures().accepted ?? null;
      return { messages, priced, amounts: formatAmounts(amounts), forecast: accepted, parts, plannedParts };
    },
  };
}

/** Adds up the figures of all steps; undefined where there is none. Without the forecast of each step there is none of all. */
export function sumBilled(steps: readonly Billed[]): Billed | undefined {
  if (steps.length === 0) return undefined;
  const amounts = new Map<string, bigint>();
  for (const [currency, amount] of steps.flatMap((step) => Object.entries(step.amounts))) {
    amounts.set(currency, (amounts.get(currency) ?? 0n) + readNanos(amount));
  }
  const forecasts = steps.flatMap(({ forecast }) => (forecast === null ? [] : [readNanos(forecast)]));
  const sum = (key: 'messages' | 'priced' | 'parts' | 'plannedParts') =>
    steps.reduce((all, step) => all + step[key], 0);
  return {
    messages: sum('messages'),
    priced: sum('priced'),
    amounts: formatAmounts(amounts),
    forecast: forecasts.length < steps.length ? null : formatDecimal(forecasts.reduce((all, one) => all + one, 0n)),
    parts: sum('parts'),
    plannedParts: sum('plannedParts'),
  };
}

function formatAmounts(amounts: ReadonlyMap<string, bigint>): Record<string, string> {
  const sorted = [...amounts].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([currency, amount]) => [currency, formatDecimal(amount)]));
}

/** For people: `1,234.50 EUR`, several currencies with a + between them. */
export function formatBilled({ amounts }: Pick<Billed, 'amounts'>): string {
  const written = Object.entries(amounts).map(([currency, amount]) => formatMoney(amount, currency));
  return written.length === 0 ? 'no price' : written.join(' + ');
}
