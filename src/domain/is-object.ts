/** Whether a value of JSON is an object, no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that are not undefined: what was not given neither appears in a request nor hides a default. */
export function omitUndefined<T extends object>(given: T): Given<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given<T>;
}
