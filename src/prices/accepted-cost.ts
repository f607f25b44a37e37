import { formatDecimal, readNanos } from './decimal.js';
import type { StepCost } from './step-cost.js';

/** What a step costs by its price list: all planned rows, and those that were accepted. */
export interface StepCostSummary {
  planned: string;
  accepted: string;
  /** Accepted rows without a price. */
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
