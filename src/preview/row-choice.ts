import type { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { AcceptedNumber } from '../normalize/number/number-result.js';
import type { RowChoice } from './choose-rows.js';

/** Which rows, as typed. */
export interface WrittenChoice {
  readonly row?: string | undefined;
  readonly to?: string | undefined;
  readonly longest?: boolean | undefined;
  readonly ucs2?: boolean | undefined;
  readonly random?: string | undefined;
  readonly count?: string | undefined;
}

/** An error that says what is wrong with a flag. */
type Refuse = (what: string) => UserError;

/** `to`: in E.164 already. */
export function readChoice({ row, to, longest, ucs2, random }: WrittenChoice, refuse: Refuse): RowChoice {
  const asked = [row !== undefined, to !== undefined, longest === true, ucs2 === true, random !== undefined];
  if (asked.filter(Boolean).length > 1) {
    throw refuse('several of --row, --to, --longest, --ucs2 and --random are given, expected one at most');
  }
  if (row !== undefined && !/^[1-9]\d{0,14}$/.test(row)) {
    throw refuse(`--row is ${JSON.stringify(row)}, expected the number of a row, from 1, without the header`);
  }
  return { row: row === undefined ? undefined : Number(row), to, longest, ucs2, random };
}

/** A number as people write it, in a country of the job where it has no `+`. */
export function readNumberFlag(to: string, job: Job, refuse: Refuse): AcceptedNumber {
  const countries = [undefined, ...job.steps.map((step) => ('input' in step ? step.input.country : undefined))];
  for (const country of countries) {
    const number = normalizeNumber(to, country);
    if (number.ok) return number;
  }
  throw refuse('--to is not a number, expected one with + and its country code');
}

export function readCount(
  { count }: WrittenChoice,
  { default: usual, most }: { readonly default: number; readonly most: number },
  refuse: Refuse,
): number {
  if (count === undefined) return usual;
  if (/^\d{1,4}$/.test(count) && Number(count) >= 1 && Number(count) <= most) return Number(count);
  throw refuse(`--count is ${JSON.stringify(count)}, expected a number from 1 to ${most}`);
}
