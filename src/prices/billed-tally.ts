import type { StepCost } from './cost-tally.js';
import { formatDecimal, formatMoney, readNanos } from './decimal.js';

/** What a step costs by its price list: all planned rows, and those that were accepted. */
export interface StepCostSummary {
  planned: string;
  accepted: string;
  withoutPrice: number;
}

/** Adds up what the accepted rows of a step cost, each by its group in the plan. */
export class AcceptedCost {
  readonly #planned: StepCost;
  readonly #rows: number[];

  constructor(planned: StepCost) {
    this.#planned = planned;
    this.#rows = planned.groups.map(() => 0);
  }

  add(group = 0): void {
    this.#rows[group] = (this.#rows[group] ?? 0) + 1;
  }

  figures(): StepCostSummary {
    let [nanos, withoutPrice] = [0n, 0];
    for (const [at, { rowCost }] of this.#planned.groups.entries()) {
      const rows = this.#rows[at] ?? 0;
      if (rowCost === null) withoutPrice += rows;
      else nanos += readNanos(rowCost) * BigInt(rows);
    }
    return { planned: this.#planned.total, accepted: formatDecimal(nanos), withoutPrice };
  }
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
export class BilledTally {
  readonly #forecast: AcceptedCost | undefined;
  readonly #amounts = new Map<string, bigint>();
  #messages = 0;
  #priced = 0;
  #parts = 0;
  #plannedParts = 0;

  constructor(planned: StepCost | undefined) {
    this.#forecast = planned && new AcceptedCost(planned);
  }

  add({ price, parts }: Receipted, planned: { parts: number; costGroup: number | undefined }): void {
    this.#messages += 1;
    this.#forecast?.add(planned.costGroup);
    if (parts !== undefined) {
      this.#parts += parts;
      this.#plannedParts += planned.parts;
    }
    if (price === undefined) return;
    this.#priced += 1;
    this.#amounts.set(price.currency, (this.#amounts.get(price.currency) ?? 0n) + price.total);
  }

  /** What the receipts say; undefined where they name neither price nor parts. */
  figures(): Billed | undefined {
    if (this.#priced === 0 && this.#parts === 0) return undefined;
    return {
      messages: this.#messages,
      priced: this.#priced,
      amounts: formatAmounts(this.#amounts),
      forecast: this.#forecast?.figures().accepted ?? null,
      parts: this.#parts,
      plannedParts: this.#plannedParts,
    };
  }
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
