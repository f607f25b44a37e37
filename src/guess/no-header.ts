import { isPlausibleEmail } from '../normalize/contact.js';

/** Where the first line of a file holds a person's data, and a line to put above it; undefined for a header. */
export function findDataInHeader(
  columns: readonly string[],
): { what: string; column: number; header: string } | undefined {
  const kinds = columns.map(readKind);
  const column = kinds.findIndex((kind) => kind !== undefined);
  const what = kinds[column];
  if (what === undefined) return undefined;
  const names = kinds.map((kind, index) => {
    const isFirst = kinds.indexOf(kind) === index;
    if (kind === undefined || !isFirst) return `column${index + 1}`;
    return kind === 'a number' ? 'mobile' : 'email';
  });
  return { what, column: column + 1, header: names.join(',') };
}

const LEAST_DIGITS = 7;

function readKind(name: string): 'a number' | 'an e-mail address' | undefined {
  const digits = name.replace(/E\+?\d+$/i, '');
  if (!/\p{L}/u.test(digits) && (name.match(/\d/g)?.length ?? 0) >= LEAST_DIGITS) return 'a number';
  return isPlausibleEmail(name.trim()) ? 'an e-mail address' : undefined;
}
