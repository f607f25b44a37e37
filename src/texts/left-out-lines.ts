import { countOf } from '../domain/count-of.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';

/** Of an inbox that is never emptied more say nothing. */
const MOST_NAMED = 5;

/** `sale.csv was already sent by run k3v9q2m8x4aa`: a line for each file, or one for all where they are many. */
export function listLeftOut(leftOut: readonly LeftOut[]): string[] {
  const lines = leftOut.map(({ file, reason }) => `${file} ${reason}`);
  if (lines.length <= MOST_NAMED) return lines;
  const { file, reason } = leftOut.at(-1) ?? { file: '', reason: '' };
  return [`${countOf(leftOut.length, 'file')} are skipped, the last of them since ${file} ${reason}`];
}
