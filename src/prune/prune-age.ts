import { UserError } from '../domain/errors.js';
import { parseAge } from '../job/age.js';

/** Milliseconds of `--older-than`. Throws UserError 'bad-flag'. */
export function readAge(text: string): number {
  const ageMs = parseAge(text);
  if (ageMs !== undefined) return ageMs;
  throw new UserError(
    'bad-flag',
    `Cannot prune: --older-than is ${JSON.stringify(text)}, expected a number of hours, days or weeks, such as 90d`,
  );
}
