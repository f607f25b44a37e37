import { UserError } from '../../domain/errors.js';

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that are not undefined: flags that were not set do not appear in a request. */
export function omitUndefined<T extends object>(flags: T): Given<T> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Given<T>;
}

/** Refuses blank flags with 'bad-flag'. `doing` completes "Cannot …"; names are as typed. */
export function refuseBlank(doing: string, given: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(given)) {
    if (text?.trim() === '') throw new UserError('bad-flag', `Cannot ${doing}: ${name} is empty, expected some text`);
  }
}
