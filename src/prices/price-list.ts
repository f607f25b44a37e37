import { countOf } from '../domain/count-of.js';
import type { Problem } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import type { Cell } from '../domain/row.js';
import { explainMissingColumn, findColumn } from '../normalize/columns.js';
import { normalizeCountry } from '../normalize/country.js';
import { planByCountry, plansByCallingCode } from '../normalize/number/numbering-plan.js';
import { parseDecimal } from './decimal.js';

/** Columns of a price list, and what they are called as well; of `country` and `prefix` it has at least one. Others are ignored. */
const COLUMNS = { country: ['land'], prefix: ['vorwahl'], sms: ['preis', 'price'], contact: ['kontakt'] } as const;
type Column = keyof typeof COLUMNS;

/** Problems that are listed; more are only counted. */
const MOST_PROBLEMS = 50;
const COLUMNS_HINT =
  'A price list has the columns country (or land) or prefix (or vorwahl), and sms (or price, preis); contact (or kontakt) may be added.';

/**
 * Reads the rows of a price list, and finds all their faults: no country or prefix, an unknown one, no price, one that is
 * no decimal number or negative, two rows for the same numbers.
 */
export class PriceListParser {
  readonly rows: PriceRow[] = [];
  readonly #shown: string;
  readonly #isCommaDecimal: boolean;
  readonly #indexes: Partial<Record<Column, number>> = {};
  readonly #problems: Problem[] = [];
  #others = 0;
  /** Line of the row with each country and prefix. */
  readonly #lines = new Map<string, number>();

  constructor(columns: readonly string[], { shown, isCommaDecimal }: { shown: string; isCommaDecimal: boolean }) {
    this.#shown = shown;
    this.#isCommaDecimal = isCommaDecimal;
    for (const name of Object.keys(COLUMNS) as Column[]) {
      const names = [name, ...COLUMNS[name]];
      const found = names.flatMap((each) => findColumn(columns, each) ?? []);
      if (found[0] !== undefined) this.#indexes[name] = found[0];
      // A reader numbers columns of one name.
      const isRepeated = (each: string) => columns.some((column) => column.toLowerCase().startsWith(`${each} (`));
      const repeated = names.find(isRepeated);
      if (repeated !== undefined) this.refuse(1, `several columns are named ${repeated}, expected one`);
      else if (found.length > 1) this.refuse(1, `several columns are named ${names.join(' or ')}, expected one`);
    }
    if (this.#indexes.sms === undefined) this.#refuseColumn('sms', columns);
    if (this.#indexes.country === undefined && this.#indexes.prefix === undefined)
      this.#refuseColumn('country', columns);
  }

  #refuseColumn(name: Column, columns: readonly string[]): void {
    const { message } = explainMissingColumn(name, columns);
    // Once, where both are missing.
    const isSaid = this.#problems.some(({ hint }) => hint === COLUMNS_HINT);
    this.#problems.push({ where: `${this.#shown}:1`, message, ...(isSaid ? {} : { hint: COLUMNS_HINT }) });
  }

  get problems(): readonly Problem[] {
    if (this.#others === 0) return this.#problems;
    return [...this.#problems, { where: this.#shown, message: `and ${countOf(this.#others, 'more fault')}` }];
  }

  /** Without the columns, only these are reported. */
  get hasColumns(): boolean {
    const { country, prefix, sms } = this.#indexes;
    return sms !== undefined && (country !== undefined || prefix !== undefined);
  }

  add(cells: readonly Cell[], line: number): void {
    const faults: string[] = [];
    const country = this.#readCountry(this.#cellOf(cells, 'country'), faults);
    const prefix = this.#readPrefix(this.#cellOf(cells, 'prefix'), faults);
    const sms = this.#readPrice('sms', cells, faults);
    const contact = this.#readPrice('contact', cells, faults);
    const row = { line, country, prefix, sms, contact };
    if (faults.length === 0) faults.push(...(findFault(row) ?? this.#findTwin(row) ?? []));
    for (const fault of faults) this.refuse(line, fault);
    if (faults.length === 0) this.rows.push(row);
  }

  #findTwin({ country, prefix, line }: PriceRow): string[] | undefined {
    const twin = remember(this.#lines, `${country} ${prefix}`, () => line);
    return twin === line ? undefined : [`the row is for the same numbers as line ${twin}, expected one price for them`];
  }

  refuse(line: number, message: string): void {
    if (this.#problems.length < MOST_PROBLEMS) {
      this.#problems.push({ where: `${this.#shown}:${line}`, message });
    } else this.#others += 1;
  }

  #cellOf(cells: readonly Cell[], name: Column): string {
    const index = this.#indexes[name];
    return index === undefined ? '' : (cells[index] ?? '').trim();
  }

  #readCountry(cell: string, faults: string[]): string | undefined {
    if (cell === '') return undefined;
    const found = normalizeCountry(cell);
    return found.ok ? found.country : addFault(faults, found.reason.replace(/\.$/, ''));
  }

  #readPrefix(cell: string, faults: string[]): string | undefined {
    if (cell === '') return undefined;
    const digits = cell.replace(/^\+/, '').replace(/[ ().-]/g, '');
    if (!/^[1-9]\d{0,14}$/.test(digits)) {
      return addFault(faults, 'the prefix does not begin a number, expected calling code and digits, such as +65');
    }
    const isKnown = [...plansByCallingCode.keys()].some((code) => code.startsWith(digits) || digits.startsWith(code));
    return isKnown ? digits : addFault(faults, 'no country has numbers that begin with the prefix');
  }

  #readPrice(name: 'sms' | 'contact', cells: readonly Cell[], faults: string[]): bigint | undefined {
    const cell = this.#cellOf(cells, name);
    if (cell === '') return undefined;
    const price = parseDecimal(cell, { isCommaDecimal: this.#isCommaDecimal });
    return price.ok ? price.nanos : addFault(faults, `${name} ${price.fault}, expected ${price.expected}`);
  }
}

function addFault(faults: string[], fault: string): undefined {
  faults.push(fault);
}

function findFault({ country, prefix, sms, contact }: PriceRow): string[] | undefined {
  if (country === undefined && prefix === undefined)
    return ['the row has no country and no prefix, expected one of them'];
  if (sms === undefined && contact === undefined) return ['the row has no price, expected one in sms'];
  const code = country === undefined ? undefined : planByCountry.get(country)?.callingCode;
  if (prefix === undefined || code === undefined || prefix.startsWith(code) || code.startsWith(prefix))
    return undefined;
  return [`numbers of ${country} begin with +${code}, not with the prefix +${prefix.slice(0, code.length)}`];
}

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
  readonly contact: bigint | undefined;
}

/** The column of a price list that a step is priced by. */
export type PricedAs = 'sms' | 'contact';

/** No number has more digits. */
const MAX_DIGITS = 15;
const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/**
 * Finds the row of a number: the longest prefix that it begins with, among equally long ones that which names its
 * country as well; without any, the row of its country.
 */
export class PriceList {
  readonly #countries = new Map<string, PriceRow>();
  /** By the prefix as a number, and the country, '' for a row of any: a prefix begins with no zero, so each length has numbers of its own. */
  readonly #prefixes = new Map<number, Map<string, PriceRow>>();
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
    remember(this.#prefixes, Number(prefix), () => new Map<string, PriceRow>()).set(country ?? '', row);
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
      const row = rows?.get(country) ?? rows?.get('');
      if (row !== undefined) return row;
    }
    return undefined;
  }
}
