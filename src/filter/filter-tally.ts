import { format } from '../domain/count-of.js';
import type { FindColumn } from '../domain/find-column.js';
import type { RowCells } from '../domain/row.js';
import type { Condition, Where } from '../domain/where.js';
import { normalizeCountry } from '../normalize/country.js';
import { asCountry, describeOmitted } from './bind-where.js';
import { type CellCount, CellCounts } from './cell-counts.js';
import { readCountry, type StepNumbers } from './compile-country-test.js';
import { describeCondition } from './describe-condition.js';
import { foldText } from './read-cell.js';

/** A condition of `where`, the rows that it left out, and the commonest of their cells. */
export interface FilterFigures {
  readonly clause: string;
  readonly omitted: number;
  readonly values: readonly CellCount[];
  /** That it left out, or with `not` let in, other spellings of countries that it names; absent where it did not. */
  readonly warning?: string | undefined;
}

interface Filter {
  readonly clause: string;
  readonly columns: readonly string[];
  readonly counts: CellCounts;
  /** Of its columns, in the current file. */
  indexes: readonly number[];
  /** Its conditions whose values are countries, and the cells of their columns. */
  readonly spelt: readonly { readonly condition: Condition; readonly counts: CellCounts }[];
  /** Of a `not` of countries, the cells of the rows that take part; undefined for another filter. */
  readonly kept: CellCounts | undefined;
  /** It asks for countries alone: of a number that is counted, which no list may show. */
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
  readonly #findColumn: FindColumn;
  readonly #numbers: StepNumbers;
  #countryIndex: number | undefined;
  #columns: readonly string[] = [];
  #bound = -1;

  /** `numbers`: those of the step. */
  constructor(where: Where, { findColumn, numbers }: { findColumn: FindColumn; numbers: StepNumbers }) {
    const [only = [], ...others] = where;
    this.#filters = others.length === 0 ? only.map((condition) => createFilter([[condition]])) : [createFilter(where)];
    this.#byReason = new Map(this.#filters.map((filter) => [describeOmitted(filter.clause), filter]));
    this.#findColumn = findColumn;
    this.#numbers = numbers;
  }

  /** `reason`: what the row is skipped for. The columns of NDJSON grow. */
  add(reason: string, cells: RowCells, columns: readonly string[]): void {
    if (columns !== this.#columns || columns.length !== this.#bound) this.#bind(columns);
    const filter = this.#byReason.get(reason) ?? this.#filters[0];
    if (filter === undefined) return;
    const country = filter.isOfCountries ? this.#countryOf(cells, filter.indexes[0] ?? -1) : undefined;
    if (country === undefined) filter.counts.add(cells, filter.indexes);
    else filter.counts.addText(country);
    for (const { condition, counts } of filter.spelt)
      if (counts !== filter.counts) counts.add(cells, [filter.indexes[filter.columns.indexOf(condition.column)] ?? -1]);
  }

  /** Whether rows that take part are to be counted too. */
  get countsKept(): boolean {
    return this.#filters.some(({ kept }) => kept !== undefined);
  }

  /** For a row that takes part. */
  addKept(cells: RowCells, columns: readonly string[]): void {
    if (columns !== this.#columns || columns.length !== this.#bound) this.#bind(columns);
    for (const { kept, indexes } of this.#filters) kept?.add(cells, indexes);
  }

  #bind(columns: readonly string[]): void {
    this.#columns = columns;
    this.#bound = columns.length;
    for (const filter of this.#filters)
      filter.indexes = filter.columns.map((column) => this.#findColumn(columns, column)?.index ?? -1);
    const { countryColumn } = this.#numbers;
    this.#countryIndex = countryColumn === undefined ? undefined : this.#findColumn(columns, countryColumn)?.index;
  }

  /** Undefined for a cell that is no number: it is counted as it is. */
  #countryOf(cells: RowCells, index: number): string | undefined {
    const { country } = this.#numbers;
    const text = cells.cell(index);
    return /\d/.test(text) ? readCountry(text, { index, countryIndex: this.#countryIndex, country }, cells) : undefined;
  }

  figures(): FilterFigures[] {
    return this.#filters.map(({ clause, counts, spelt, kept }) => {
      const warnings = spelt.map(({ condition, counts }) => warnOfSpellings(condition, kept ?? counts) ?? '');
      const warning = warnings.filter((each) => each !== '').join('; ');
      const figures = { clause, omitted: counts.rows, values: counts.list() };
      return warning === '' ? figures : { ...figures, warning };
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
