type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that have a value: flags that were not given leave their place in a request empty. */
export function keepGiven<T extends object>(flags: T): Given<T> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Given<T>;
}
