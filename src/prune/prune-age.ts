import { UserError } from '../domain/errors.js';

const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };

/** Milliseconds of an age as `--older-than` has it: `36h`, `90d`, `12w`. Throws UserError 'bad-flag'. */
export function readAge(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (UNITS[unit] ?? 0);
  throw new UserError(
    'bad-flag',
    `Cannot prune: --older-than is ${JSON.stringify(text)}, expected a number of hours, days or weeks, such as 90d`,
  );
}
