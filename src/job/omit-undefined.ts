type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that are not undefined: what was not given neither appears in a request nor hides a default. */
export function omitUndefined<T extends object>(given: T): Given<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given<T>;
}
