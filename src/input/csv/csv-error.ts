import { CsvError } from 'csv-parse/sync';
import type { UserError } from '../../domain/errors.js';
import type { ReadLimits } from '../../job/job.js';
import { refuse } from '../refusal.js';

/** A parser error as a refusal of the file; `where` is the line on which the row begins. */
export function refuseRow(error: unknown, where: string): unknown {
  if (!(error instanceof CsvError)) return error;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return refuse({
        where,
        message: 'a quote that opens in the row on this line never closes, expected a closing quote',
        hint: 'Close it, or write it twice ("") if it belongs to the text.',
      });
    case 'CSV_INVALID_CLOSING_QUOTE':
      return refuse({
        where,
        message: `in the row that begins on this line a quote stands inside the quotes of ${nameField(error)}, expected it twice`,
        hint: 'Write a quote that belongs to the text twice: "he said ""hi"" to". If none does, look for one that opens too early, or is not closed.',
      });
    case 'INVALID_OPENING_QUOTE':
      return refuse({
        where,
        message: `in the row that begins on this line a quote stands inside ${nameField(error)}, which is not in quotes, expected the whole field in quotes`,
        hint: 'Put the field in quotes and write the quote in it twice: "5"" pipe"; leave no blank before an opening quote.',
      });
    default:
      return error;
  }
}

/** `field 3`, as the parser counts them. */
function nameField(error: CsvError): string {
  return typeof error.column === 'number' ? `field ${error.column + 1}` : 'a field';
}

/** A row beyond the limits, by its bytes or by its number of fields. */
export function refuseLongRow(where: string, limits: ReadLimits): UserError {
  return refuse({
    where,
    message: `the row that begins on this line is too long, expected at most ${limits.maxLineBytes} bytes and ${limits.maxColumns} fields`,
    hint: 'Look for a quote that never closes; if the row is right, raise limits.maxLineBytes or limits.maxColumns where the job names the file.',
  });
}

/** A field beyond the limit; `index` counts from 0. */
export function refuseLongField(where: string, index: number, limits: ReadLimits): UserError {
  return refuse({
    where,
    message: `field ${index + 1} of the row that begins on this line is too long, expected at most ${limits.maxFieldBytes} bytes`,
    hint: 'Look for a quote that never closes; if the field is right, raise limits.maxFieldBytes where the job names the file.',
  });
}
