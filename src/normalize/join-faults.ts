import type { Rejection } from '../domain/row.js';

/**
 * All faults of a row as one rejection, so that they can be fixed in one round: stage, field and code of the first, a
 * reason that lists every one with its field. Repeated faults count once; a single one stays unchanged.
 */
export function joinFaults(first: Rejection, others: readonly Rejection[]): Rejection {
  const faults: Rejection[] = [];
  for (const fault of [first, ...others]) if (!faults.some((known) => isSame(known, fault))) faults.push(fault);
  if (faults.length === 1) return first;
  const listed = faults.map(
    ({ field, reason }, at) => `(${at + 1}) ${field === '' ? '' : `${field}: `}${endSentence(reason)}`,
  );
  return { ...first, reason: `${faults.length} faults: ${listed.join(' ')}` };
}

function isSame(known: Rejection, { field, code, reason }: Rejection): boolean {
  return known.field === field && known.code === code && (field !== '' || known.reason === reason);
}

function endSentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}
