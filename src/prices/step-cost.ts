import { formatDecimal, readNanos } from './decimal.js';

/** What a step of a plan costs, by a price list. Amounts are decimal texts in the currency of the list. */
export interface StepCost {
  readonly total: string;
  /** By ISO alpha-2, the dearest first; '' stands for rows without a number. */
  readonly countries: Readonly<Record<string, CountryCost>>;
  /** Rows by country that have no price, and cost nothing here. */
  readonly withoutPrice: Readonly<Record<string, number>>;
  readonly ucs2: Ucs2Cost;
  /** A planned row names its group by its index here: all rows of a group cost the same. */
  readonly groups: readonly CostGroup[];
  /** What the first stage costs, where the step is sent in stages. */
  readonly firstStage?: string;
}

export interface CountryCost {
  /** Messages, or contacts. */
  readonly rows: number;
  /** SMS parts; 0 for contacts. */
  readonly parts: number;
  readonly cost: string;
}

/**
 * Parts of UCS-2 messages beyond those that as many characters would take in GSM-7, and what these cost. Characters are
 * UTF-16 code units; each counts as one septet.
 */
export interface Ucs2Cost {
  readonly extraParts: number;
  readonly extraCost: string;
  /** By the first character of a message that forces UCS-2; '' stands for messages that ask for UCS-2. The dearest first. */
  readonly characters: Readonly<Record<string, Ucs2CharacterCost>>;
}

export interface Ucs2CharacterCost {
  /** Messages that take more parts because of it. */
  readonly rows: number;
  readonly extraParts: number;
  readonly extraCost: string;
}

export interface CostGroup {
  readonly country: string;
  /** SMS parts of each row; 0 for contacts. */
  readonly parts: number;
  /** What each row costs; null without a price. */
  readonly rowCost: string | null;
  readonly rows: number;
}

/** The list that a plan was calculated with. */
export interface PlannedPrices {
  /** The file as places show it. */
  readonly file: string;
  readonly path: string;
  readonly sha256: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Rows of the list. */
  readonly rows: number;
}

/** What all steps of a plan cost together. */
export function sumCost(steps: readonly { readonly cost?: Pick<StepCost, 'total'> }[]): string {
  return formatDecimal(steps.reduce((sum, { cost }) => sum + (cost === undefined ? 0n : readNanos(cost.total)), 0n));
}
