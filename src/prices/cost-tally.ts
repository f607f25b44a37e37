import { increment } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import { nameCharacters } from '../template/segments.js';
import { formatDecimal, readNanos } from './decimal.js';
import type { PricedAs, PriceList } from './price-list.js';

/** A planned row, as far as its price depends on it. */
interface PricedRow {
  /** ISO alpha-2; undefined where there is no number. */
  readonly country: string | undefined;
  /** Its E.164 digits. */
  readonly number: number | undefined;
  readonly parts: number;
  /** What a UCS-2 message takes beyond GSM-7, as `Ucs2Cost` counts it; 0 for another message. */
  readonly extraParts: number;
  /** Its characters that force UCS-2; undefined where none does. */
  readonly characters: string | undefined;
}

interface Group {
  readonly country: string;
  readonly parts: number;
  /** Price of a part, or of a contact. */
  readonly price: bigint | undefined;
  rows: number;
}

/** Messages of a group that take as many parts more in UCS-2, by the first character that forces it. */
interface Extra {
  readonly character: string;
  readonly group: Group;
  readonly parts: number;
  rows: number;
}

/** Counts the planned rows of a step by what they cost. Only counts are kept: the sums are exact, and made at the end. */
export class CostTally {
  readonly #list: PriceList;
  readonly #pricedAs: PricedAs;
  readonly #groups: Group[] = [];
  /** Indexes of groups by country, price row and parts. */
  readonly #indexes = new Map<string, number>();
  readonly #extras = new Map<string, Extra>();

  constructor(list: PriceList, pricedAs: PricedAs) {
    this.#list = list;
    this.#pricedAs = pricedAs;
  }

  add({ country = '', number, parts, extraParts, characters = '' }: PricedRow): number {
    const row = this.#list.find(country, number);
    const price = row?.[this.#pricedAs];
    const index = remember(this.#indexes, `${country} ${row?.line} ${parts}`, () => {
      return this.#groups.push({ country, parts, price, rows: 0 }) - 1;
    });
    const group = this.#groups[index] as Group;
    group.rows += 1;
    if (extraParts === 0) return index;
    const [character = ''] = characters;
    const extra = { character, group, parts: extraParts, rows: 0 };
    remember(this.#extras, `${character} ${index} ${extraParts}`, (): Extra => extra).rows += 1;
    return index;
  }

  get withoutPrice(): Record<string, number> {
    const counts = new Map<string, number>();
    for (const { country, price, rows } of this.#groups) if (price === undefined) increment(counts, country, rows);
    return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
  }

  /** `firstStage`: of a step that is sent in stages, the rows of the first by group. */
  figures(firstStage?: readonly number[]): StepCost {
    const countries = new Map<string, { rows: number; parts: number; nanos: bigint }>();
    let total = 0n;
    for (const group of this.#groups) {
      const nanos = rowNanos(group) * BigInt(group.rows);
      total += nanos;
      const sum = remember(countries, group.country, () => ({ rows: 0, parts: 0, nanos: 0n }));
      sum.rows += group.rows;
      sum.parts += group.parts * group.rows;
      sum.nanos += nanos;
    }
    const sorted = [...countries].sort(([, one], [, other]) => Number(other.nanos - one.nanos));
    const sumRows = (counts: readonly number[]) =>
      this.#groups.reduce((sum, group, at) => sum + rowNanos(group) * BigInt(counts[at] ?? 0), 0n);
    return {
      total: formatDecimal(total),
      countries: Object.fromEntries(
        sorted.map(([country, { rows, parts, nanos }]) => [country, { rows, parts, cost: formatDecimal(nanos) }]),
      ),
      withoutPrice: this.withoutPrice,
      ucs2: this.#sumExtras(),
      groups: this.#groups.map((group) => {
        const { country, parts, price, rows } = group;
        return { country, parts, rowCost: price === undefined ? null : formatDecimal(rowNanos(group)), rows };
      }),
      ...(firstStage && { firstStage: formatDecimal(sumRows(firstStage)) }),
    };
  }

  #sumExtras(): StepCost['ucs2'] {
    const sums = new Map<string, { rows: number; parts: number; nanos: bigint }>();
    for (const { character, group, parts, rows } of this.#extras.values()) {
      const sum = remember(sums, character, () => ({ rows: 0, parts: 0, nanos: 0n }));
      sum.rows += rows;
      sum.parts += parts * rows;
      sum.nanos += BigInt(parts * rows) * (group.price ?? 0n);
    }
    const sorted = [...sums].sort(([, one], [, other]) => Number(other.nanos - one.nanos) || other.parts - one.parts);
    return {
      extraParts: sorted.reduce((sum, [, { parts }]) => sum + parts, 0),
      extraCost: formatDecimal(sorted.reduce((sum, [, { nanos }]) => sum + nanos, 0n)),
      characters: Object.fromEntries(
        sorted.map(([character, { rows, parts, nanos }]): [string, Ucs2CharacterCost] => [
          nameCharacters(character)[0] ?? '',
          { rows, extraParts: parts, extraCost: formatDecimal(nanos) },
        ]),
      ),
    };
  }
}

/** A contact has no parts, and is priced once. */
function rowNanos({ price = 0n, parts }: Group): bigint {
  return price * BigInt(parts === 0 ? 1 : parts);
}

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

interface CountryCost {
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
interface Ucs2Cost {
  readonly extraParts: number;
  readonly extraCost: string;
  /** By the first character of a message that forces UCS-2; '' stands for messages that ask for UCS-2. The dearest first. */
  readonly characters: Readonly<Record<string, Ucs2CharacterCost>>;
}

interface Ucs2CharacterCost {
  /** Messages that take more parts because of it. */
  readonly rows: number;
  readonly extraParts: number;
  readonly extraCost: string;
}

interface CostGroup {
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
  readonly rows: number;
}

/** What all steps of a plan cost together. */
export function sumCost(steps: readonly { readonly cost?: Pick<StepCost, 'total'> }[]): string {
  return formatDecimal(steps.reduce((sum, { cost }) => sum + (cost === undefined ? 0n : readNanos(cost.total)), 0n));
}
