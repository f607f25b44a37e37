import type { ByteCells } from '../domain/bytes/row-block.js';
import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { Rejection } from '../domain/row.js';
import type { Input } from '../job/job.js';
import type { Columns } from '../normalize/columns.js';
import { explainOwnCountry } from '../normalize/number/explain-number.js';
import { normalizeCell } from '../normalize/number/number.js';
import type { NumberDigits } from '../normalize/number/number-fast.js';

/** Reads the number of a row; or why it has none: first of the number, then of its country. */
export type ReadNumber = (cells: ByteCells) => NumberDigits | readonly [Rejection, ...Rejection[]];

/** What a message begins with: its brace is open. */
export function appendDestination(fragment: TextBuffer, digits: number): void {
  fragment.appendShort('{"destination":');
  appendNumber(fragment, digits);
}

/** E.164 as JSON. */
export function appendNumber(text: TextBuffer, digits: number): void {
  text.appendShort('"+');
  text.appendInteger(digits);
  text.appendShort('"');
}

/** Finds the column of the country that the numbers of a column are read in. `column`: by which the rows' faults name it. */
export function bindNumber(
  { column, index }: { readonly column: string; readonly index: number },
  { country, countryColumn }: Pick<Input, 'country' | 'countryColumn'>,
  columns: Columns,
): ReadNumber {
  const countryIndex = columns.findAny(countryColumn, 'input.countryColumn');
  const place = { index, countryIndex, country };
  const explainCountryOf = (cells: ByteCells): Rejection | undefined => {
    if (countryColumn === undefined || countryIndex === undefined) return undefined;
    const refusal = explainOwnCountry(cells.cell(index), cells.cell(countryIndex));
    return refusal && { stage: 'normalize', field: countryColumn, code: refusal.code, reason: refusal.reason };
  };
  return (cells) => {
    const number = normalizeCell(cells, place);
    if ('digits' in number) return number;
    const { code, reason } = number;
    const isOfCountry = code === 'bad-country' && countryIndex !== undefined && cells.cell(countryIndex).trim() !== '';
    const field = isOfCountry ? (countryColumn ?? column) : column;
    const fault = { stage: 'normalize', field, code, reason } as const;
    const ofCountry = code === 'bad-country' ? undefined : explainCountryOf(cells);
    return ofCountry === undefined ? [fault] : [fault, ofCountry];
  };
}
