import { guessJob, type JobGuess } from '../../src/guess/guess-job.js';
import { joinSamples, type SampledRows } from '../../src/guess/sampled-columns.js';

/** The rows of a file, from lines of cells; the first line names the columns. */
export function aSample([header = [], ...rows]: readonly (readonly string[])[]): SampledRows {
  return joinSamples([{ name: 'people.csv', columns: header, rows }]);
}

/** Rows of one column: `count` texts that are made of their number. */
export function aColumn(name: string, count: number, cell: (index: number) => string): string[][] {
  return [[name], ...Array.from({ length: count }, (_, index) => [cell(index)])];
}

/** Columns side by side; they have the same number of rows. */
export function beside(...columns: readonly (readonly string[])[][]): string[][] {
  const [first = []] = columns;
  return first.map((_, row) => columns.flatMap((column) => column[row] ?? []));
}

/** What is guessed of a sample, which must be enough for a job. */
export function guessOf(
  lines: readonly (readonly string[])[],
  choice: { destination?: string; country?: string } = {},
): JobGuess {
  const { destination, country } = choice;
  const found = guessJob(aSample(lines), { destination, country });
  if (found.kind !== 'found') throw new Error(`The search ended with ${found.kind}`);
  return found.guess;
}

/** An invented number of Singapore, with +, or as dialled there. */
export const plus = (index: number): string => `+65 9100 ${1000 + index}`;
export const local = (index: number): string => `9100${1000 + index}`;
