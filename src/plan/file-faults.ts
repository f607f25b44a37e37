import { countOf, format } from '../domain/count-of.js';
import type { Problem } from '../domain/errors.js';
import type { Rejection, Skip } from '../domain/row.js';
import { NUMBER_CODES, type NumberCode, type SkipCode } from '../domain/row-codes.js';
import { listColumns, maskForm } from '../normalize/mask.js';
import { describeExample, type ExampleRow } from './reasons.js';

/** Fewer rows may all be wrong by themselves: each stays a rejection, with its reason. */
const LEAST_ROWS = 10;
const MOST_CODES = 2;
/** As `maskForm` shows a date, with a time or without. */
const DATE_FORM = /^(?:99?[./]99?[./](?:99|9999)|9999-99-99)(?![^ T])/;

interface FirstRow {
  readonly row: ExampleRow;
  readonly rejection: Rejection;
}

/** Rows that are skipped for another reason have a number. */
const SAYS_NOTHING: readonly SkipCode[] = ['filtered', 'retried'];

/**
 * What is wrong with a file, or with the job for it, and not with its rows: not a single number in the column of the
 * numbers, or a text that is too long for most rows. Rows that say nothing of it do not count: filtered ones, and those
 * that cannot be read.
 */
export class FileFaults {
  readonly #numberCodes = new Map<NumberCode, number>();
  readonly #firstOf = new Map<string, FirstRow>();
  #withNumber = 0;
  #tooLong = 0;

  addPlanned(rows: number): void {
    this.#withNumber += rows;
  }

  addSkipped({ code }: Skip): void {
    if (!SAYS_NOTHING.includes(code)) this.#withNumber += 1;
  }

  addRejected(rejection: Rejection, describeRow: () => ExampleRow): void {
    const { code, stage } = rejection;
    if (isNumberCode(code)) this.#numberCodes.set(code, (this.#numberCodes.get(code) ?? 0) + 1);
    else if (stage === 'normalize' || stage === 'render') this.#withNumber += 1;
    if (code === 'text-too-long') this.#tooLong += 1;
    if (!this.#firstOf.has(code)) this.#firstOf.set(code, { row: describeRow(), rejection });
  }

  /** Once the whole file was read. */
  list(): Problem[] {
    return [this.#findNumberFault(), this.#findTextFault()].filter((problem) => problem !== undefined);
  }

  #findNumberFault(): Problem | undefined {
    const codes = [...this.#numberCodes].sort((a, b) => b[1] - a[1]);
    const rows = codes.reduce((sum, [, count]) => sum + count, 0);
    const [commonest] = codes;
    const first = commonest && this.#firstOf.get(commonest[0]);
    if (first === undefined || rows < LEAST_ROWS || this.#withNumber > 0) return undefined;
    const { file, columns } = first.row;
    const { field } = first.rejection;
    const said = codes.slice(0, MOST_CODES).map(([code, count]) => `${NUMBER_CODES[code].is} ${format(count)}`);
    const more = codes.length > MOST_CODES ? ', and others' : '';
    const cell = showCell(first);
    const like = cell === '' ? '' : `; its cells look like ${JSON.stringify(cell)}`;
    return {
      where: file,
      message: `no row of ${format(rows)} has a number that can be used in column ${JSON.stringify(field)} (${said.join(', ')}${more})${like}; expected phone numbers`,
      hint:
        commonest?.[0] === 'no-country' && !DATE_FORM.test(cell)
          ? `Name their country with country or countryColumn in the input of the job, or another column: ${listColumns(columns)}.`
          : `Name the column of the numbers in the job, or the country of those without +; columns: ${listColumns(columns)}.`,
    };
  }

  #findTextFault(): Problem | undefined {
    const first = this.#firstOf.get('text-too-long');
    if (first === undefined || this.#tooLong < LEAST_ROWS || this.#tooLong * 2 <= this.#withNumber) return undefined;
    const { file, line, row } = first.row;
    return {
      where: file,
      message: `the text has more than 10 parts for ${format(this.#tooLong)} of ${countOf(this.#withNumber, 'row')}, the first of them row ${row} (line ${line}); expected 10 at most`,
      hint: 'Shorten template.text in the job, or the column that it shows: volley preview JOB --row N shows a text.',
    };
  }
}

function isNumberCode(code: string): code is NumberCode {
  return Object.hasOwn(NUMBER_CODES, code);
}

/** The cell at fault as an account may show it; where that would be nothing, the form of its text. */
function showCell({ row, rejection }: FirstRow): string {
  const { value } = describeExample(row, rejection);
  const index = row.columns.indexOf(rejection.field);
  const form = maskForm(row.cells[index] ?? '');
  return value === '' || DATE_FORM.test(form) ? form : value;
}
