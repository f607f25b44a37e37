import type { ByteCells } from '../domain/bytes/row-block.js';
import { format } from '../domain/count-of.js';
import type { Condition, Where } from '../job/schema/written-where.js';
import { findColumn } from '../normalize/columns.js';
import { normalizeCountry } from '../normalize/country.js';
import { asCountry, describeCondition, describeOmitted } from './bind-rows.js';
import { foldText, readCountry, type StepNumbers } from './compile-test.js';

interface Filter {
  readonly clause: string;
  readonly columns: readonly string[];
  readonly counts: CellCounts;
  /** The places of its columns in the current file; -1 for one that is not there. */
  indexes: readonly number[];
  /** Its conditions whose values are countries, and the cells of their columns. */
  readonly spelt: readonly { readonly condition: Condition; readonly counts: CellCounts }[];
  /** Cells of the rows that take part, where it is a `not` of countries. */
  readonly kept: CellCounts | undefined;
  /** It asks for countries alone: for a number its country is counted, since no list may show the number. */
  readonly isOfCountries: boolean;
}

const MOST_SPELLINGS = 8;

/**
 * Counts the rows that each condition of a `where` left out, in the order of the job: a row at the first that does not
 * hold. A list of maps is one filter, since no single condition of it leaves a row out.
 */
export class FilterTally {
  readonly #filters: readonly Filter[];
  readonly #byReason: ReadonlyMap<string, Filter>;
  readonly #numbers: StepNumbers;
  #countryIndex: number | undefined;
  #columns: readonly string[] = [];
  #bound = -1;

  constructor(where: Where, numbers: StepNumbers) {
    const [only = [], ...others] = where;
    this.#filters = others.length === 0 ? only.map((condition) => createFilter([[condition]])) : [createFilter(where)];
    this.#byReason = new Map(this.#filters.map((filter) => [describeOmitted(filter.clause), filter]));
    this.#numbers = numbers;
  }

  /** `reason`: what the row is skipped for. The columns of NDJSON grow. */
  add(reason: string, cells: ByteCells, columns: readonly string[]): void {
    this.#bind(columns);
    const filter = this.#byReason.get(reason) ?? this.#filters[0];
    if (filter === undefined) return;
    const country = filter.isOfCountries ? this.#countryOf(cells, filter.indexes[0] ?? -1) : undefined;
    if (country === undefined) filter.counts.add(cells, filter.indexes);
    else filter.counts.addText(country);
    for (const { condition, counts } of filter.spelt)
      if (counts !== filter.counts) counts.add(cells, [filter.indexes[filter.columns.indexOf(condition.column)] ?? -1]);
  }

  addKept(cells: ByteCells, columns: readonly string[]): void {
    this.#bind(columns);
    for (const { kept, indexes } of this.#filters) kept?.add(cells, indexes);
  }

  #bind(columns: readonly string[]): void {
    if (columns === this.#columns && columns.length === this.#bound) return;
    this.#columns = columns;
    this.#bound = columns.length;
    for (const filter of this.#filters)
      filter.indexes = filter.columns.map((column) => findColumn(columns, column) ?? -1);
    const { countryColumn } = this.#numbers;
    this.#countryIndex = countryColumn === undefined ? undefined : findColumn(columns, countryColumn);
  }

  /** The country of a number; undefined for a cell that is none, which is counted as it is. */
  #countryOf(cells: ByteCells, index: number): string | undefined {
    const { country } = this.#numbers;
    const text = cells.cell(index);
    return /\d/.test(text) ? readCountry(text, { index, countryIndex: this.#countryIndex, country }, cells) : undefined;
  }

  /**
   * Each condition, the rows that it left out, and the commonest of their cells. `warning`: it left out, or with `not` let in, other
   * spellings of countries that it names.
   */
  figures() {
    return this.#filters.map(({ clause, counts, spelt, kept }) => {
      const warnings = spelt.flatMap(({ condition, counts }) => warnOfSpellings(condition, kept ?? counts) ?? []);
      const figures = { clause, omitted: counts.rows, values: counts.list() };
      return { ...figures, ...(warnings.length > 0 && { warning: warnings.join('; ') }) };
    });
  }
}

function createFilter(where: readonly (readonly Condition[])[]): Filter {
  const clause = where.map((group) => group.map(describeCondition).join(', ')).join(' or ');
  const columns = [...new Set(where.flat().map(({ column }) => column))];
  const counts = new CellCounts();
  // In a list of maps a row may take part by another one.
  const isNot = ({ tests }: Condition) => tests[0]?.op === 'not';
  const spelt = where
    .flat()
    .filter((condition) => asCountry(condition) !== undefined && (where.length === 1 || !isNot(condition)))
    .map((condition) => ({ condition, counts: columns.length === 1 ? counts : new CellCounts() }));
  const kept = spelt.some(({ condition }) => isNot(condition)) ? new CellCounts() : undefined;
  const isOfCountries = columns.length === 1 && where.flat().every(({ tests }) => tests.every((test) => 'as' in test));
  return { clause, columns, counts, indexes: [], spelt, isOfCountries, kept };
}

/** `Land: Deutschland omits other spellings: DE 2, Germany 1 (Deutschland)`, and what to write; undefined where it does not. `counts`: of the rows that another spelling would move. */
function warnOfSpellings(condition: Condition, counts: CellCounts): string | undefined {
  const [test] = condition.tests;
  const values = test !== undefined && 'values' in test ? test.values.map(String) : [];
  const all = counts.all().filter(({ value }) => !values.some((each) => foldText(each) === foldText(value)));
  const countryOf = (text: string) => {
    const country = normalizeCountry(text);
    return country.ok ? country.country : undefined;
  };
  const spellings = values.flatMap((wanted) => {
    const found = all.filter(({ value }) => countryOf(value) === countryOf(wanted)).slice(0, MOST_SPELLINGS);
    const listed = found.map(({ value, rows }) => `${value} ${format(rows)}`).join(', ');
    return found.length === 0 ? [] : [`${listed} (${wanted})`];
  });
  if (spellings.length === 0) return undefined;
  const written = `write ${asCountry(condition)}`;
  const said = test?.op === 'not' ? ['lets in', `To omit them ${written}`] : ['omits', `To let them in ${written}`];
  return `${describeCondition(condition)} ${said[0]} other spellings: ${spellings.join(', ')}. ${said[1]}`;
}

/** A cell without the blanks around it, '' where it is blank, and in how many rows it stands. */
export interface CellCount {
  readonly value: string;
  readonly rows: number;
}

const MOST_LISTED = 8;
/** More different cells are not counted one by one, nor are longer ones: what is meant by a condition is repeated and short. */
const MOST_COUNTED = 1000;
const MOST_BYTES = 60;
/** Counts rows by their cells in bounded memory. */
export class CellCounts {
  rows = 0;
  readonly #counts = new Map<string, number>();

  /** The row's cells of some columns; several are counted together. */
  add(cells: ByteCells, columns: readonly number[]): void {
    this.addText(joinCells(cells, columns));
  }

  /** Counts a row by what its cell is read as. */
  addText(text: string): void {
    this.rows += 1;
    const known = this.#counts.get(text);
    if (known === undefined && (this.#counts.size === MOST_COUNTED || Buffer.byteLength(text) > MOST_BYTES)) return;
    this.#counts.set(text, (known ?? 0) + 1);
  }

  /** All that are counted, the commonest first. */
  all(): CellCount[] {
    const rows = new Map<string, number>();
    for (const [text, count] of this.#counts) rows.set(text.trim(), (rows.get(text.trim()) ?? 0) + count);
    return [...rows]
      .map(([value, count]) => ({ value, rows: count }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1));
  }

  /** The commonest, without personal data: none where most differ, as names of people do. */
  list(): CellCount[] {
    const all = this.all();
    const distinct = all.length + this.rows - all.reduce((sum, { rows }) => sum + rows, 0);
    if (distinct > MOST_LISTED && distinct * 2 > this.rows) return [];
    return all.filter(({ value }) => !isPersonal(value)).slice(0, MOST_LISTED);
  }
}

function joinCells(cells: ByteCells, columns: readonly number[]): string {
  if (columns.length === 1) return cells.cell(columns[0] ?? -1);
  return columns.map((column) => cells.cell(column).trim() || 'blank').join(' · ');
}

const DATE = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ].*)?$/;

/** An address, or as many digits as numbers of people have. */
function isPersonal(value: string): boolean {
  return value.includes('@') || (value.replace(/\P{Nd}/gu, '').length >= 7 && !DATE.test(value));
}
