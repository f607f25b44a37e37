import type { ByteCells } from '../../domain/bytes/row-block.js';
import type { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { Rejection } from '../../domain/row.js';
import type { Input } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { explainOwnCountry } from '../../normalize/number/explain-number.js';
import { normalizeCell } from '../../normalize/number/number.js';
import type { NumberDigits } from '../../normalize/number/number-fast.js';

/** Reads the number that a row is sent to; or why it has none: first of the number, then of its country. */
export type ReadDestination = (cells: ByteCells) => NumberDigits | readonly [Rejection, ...Rejection[]];

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

/** Finds the columns of the number that a step sends to. */
export function bindDestination(
  { destination, input }: { readonly destination: string; readonly input: Input },
  columns: Columns,
): ReadDestination {
  const { country, countryColumn } = input;
  const index = columns.find(destination, 'destination');
  const countryIndex = columns.findAny(countryColumn, 'input.countryColumn');
  const column = { index, countryIndex, country };
  const explainCountryOf = (cells: ByteCells): Rejection | undefined => {
    if (countryColumn === undefined || countryIndex === undefined) return undefined;
    const refusal = explainOwnCountry(cells.cell(index), cells.cell(countryIndex));
    return refusal && { stage: 'normalize', field: countryColumn, code: refusal.code, reason: refusal.reason };
  };
  return (cells) => {
    const number = normalizeCell(cells, column);
    if ('digits' in number) return number;
    const { code, reason } = number;
    const isOfCountry = code === 'bad-country' && countryIndex !== undefined && cells.cell(countryIndex).trim() !== '';
    const field = isOfCountry ? (countryColumn ?? destination) : destination;
    const fault = { stage: 'normalize', field, code, reason } as const;
    const country = code === 'bad-country' ? undefined : explainCountryOf(cells);
    return country === undefined ? [fault] : [fault, country];
  };
}
