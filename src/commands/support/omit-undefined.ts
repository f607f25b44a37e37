import { UserError } from '../../domain/errors.js';

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that have a value: flags that were not given leave their place in a request empty. */
export function omitUndefined<T extends object>(flags: T): Given<T> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Given<T>;
}

/** Refuses with 'bad-flag' what was given without a word in it. `doing` completes "Cannot …", names are as they are typed. */
export function refuseBlank(doing: string, given: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(given)) {
    if (text?.trim() === '') throw new UserError('bad-flag', `Cannot ${doing}: ${name} is empty, expected some text`);
  }
}
