import type { ByteCells } from '../domain/bytes/row-block.js';
import { isBlank } from '../domain/text.js';
import type { RowStep } from '../job/job.js';
import type { CountryTest } from '../job/schema/written-where.js';
import { kindOf } from '../kinds/kinds.js';
import { normalizeCountry } from '../normalize/country.js';
import { type NumberColumn, normalizeCell } from '../normalize/number/number.js';
import type { CompiledTest } from './compile-test.js';

/** Which column of a step has the numbers that it sends to, and in which country those without + are read. */
export interface StepNumbers {
  readonly column: string | undefined;
  readonly country: string | undefined;
  readonly countryColumn: string | undefined;
}

export function numbersOf(step: RowStep): StepNumbers {
  const { country, countryColumn } = step.input;
  return { column: kindOf(step).numberColumn(step), country, countryColumn };
}

/**
 * Whether the country of a cell is one of some: of a country written in any way that `countryColumn` understands, or that of a
 * number. `isDestination`: a number that cannot be read is rejected by its own check, which says why.
 */
export function compileCountryTest(
  { op, values }: CountryTest,
  column: NumberColumn,
  { isDestination }: { readonly isDestination: boolean },
): CompiledTest {
  const wanted = new Set(values);
  return {
    holds: (text, cells) => {
      if (isBlank(text)) return false;
      const country = readCountry(text, column, cells);
      if (country === undefined) return isDestination ? true : undefined;
      return wanted.has(country) === (op === 'equals');
    },
    expected: 'a country by its name or code, or a number',
  };
}

/** The country of a cell, as a name, a code or a number; undefined for anything else. */
export function readCountry(text: string, column: NumberColumn, cells: ByteCells): string | undefined {
  // No name of a country has a digit, and no number can do without.
  if (!/\d/.test(text)) {
    const named = normalizeCountry(text);
    return named.ok ? named.country : undefined;
  }
  const number = normalizeCell(cells, column);
  return 'digits' in number ? number.country : undefined;
}
