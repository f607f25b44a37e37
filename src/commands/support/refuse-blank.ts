import { UserError } from '../../domain/errors.js';

/** Refuses blank flags with 'bad-flag'. `doing` completes "Cannot …"; names are as typed. */
export function refuseBlank(doing: string, given: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(given)) {
    if (text?.trim() === '') throw new UserError('bad-flag', `Cannot ${doing}: ${name} is empty, expected some text`);
  }
}
