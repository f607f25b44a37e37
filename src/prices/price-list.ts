/** What one row of a price list says. Prices are in billionths of the currency's unit; undefined where the cell is blank. */
export interface PriceRow {
  /** The line on which it stands. */
  readonly line: number;
  /** ISO alpha-2; undefined for a row of a prefix alone. */
  readonly country: string | undefined;
  /** Digits that numbers begin with, calling code included; undefined for a row of a country alone. */
  readonly prefix: string | undefined;
  /** Price of one SMS part. */
  readonly sms: bigint | undefined;
  /** Price of one contact. */
  readonly contact: bigint | undefined;
}

/** The column of a price list that a step is priced by. */
export type PricedAs = 'sms' | 'contact';

/** Rows with one prefix: that of any country, and those that also name one. */
interface PrefixRows {
  any: PriceRow | undefined;
  readonly ofCountry: Map<string, PriceRow>;
}

/** No number has more digits. */
const MAX_DIGITS = 15;
const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/**
 * Finds the row of a number: the longest prefix that it begins with, among equally long ones that which names its
 * country as well; without any, the row of its country.
 */
export class PriceList {
  readonly #countries = new Map<string, PriceRow>();
  /** By the prefix as a number: a prefix begins with no zero, so each length has numbers of its own. */
  readonly #prefixes = new Map<number, PrefixRows>();
  /** The lengths of the prefixes, the longest first. */
  readonly #lengths: readonly number[];
  readonly hasContactPrices: boolean;

  /** No two rows have the same country and prefix. */
  constructor(rows: readonly PriceRow[]) {
    for (const row of rows) this.#add(row);
    const lengths = new Set(rows.flatMap(({ prefix }) => (prefix === undefined ? [] : [prefix.length])));
    this.#lengths = [...lengths].sort((one, other) => other - one);
    this.hasContactPrices = rows.some(({ contact }) => contact !== undefined);
  }

  #add(row: PriceRow): void {
    const { country, prefix } = row;
    if (prefix === undefined) {
      if (country !== undefined) this.#countries.set(country, row);
      return;
    }
    const rows = this.#prefixes.get(Number(prefix)) ?? { any: undefined, ofCountry: new Map() };
    this.#prefixes.set(Number(prefix), rows);
    if (country === undefined) rows.any = row;
    else rows.ofCountry.set(country, row);
  }

  /** `number`: its E.164 digits; undefined where there is none. */
  find(country: string, number: number | undefined): PriceRow | undefined {
    if (number !== undefined && this.#lengths.length > 0) {
      const found = this.#findPrefix(country, number);
      if (found !== undefined) return found;
    }
    return this.#countries.get(country);
  }

  #findPrefix(country: string, number: number): PriceRow | undefined {
    let digits = 1;
    while (digits < MAX_DIGITS && number >= (POWERS[digits] as number)) digits += 1;
    for (const length of this.#lengths) {
      if (length > digits) continue;
      const rows = this.#prefixes.get(Math.floor(number / (POWERS[digits - length] as number)));
      const row = rows?.ofCountry.get(country) ?? rows?.any;
      if (row !== undefined) return row;
    }
    return undefined;
  }
}
