import type { FilterImplOptions } from 'liquidjs';
import { BadDate, formatDate } from './date.js';

type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;

/** Missing and wrong values of a row; rendering continues to find all of them. */
export type FoundFault =
  | { readonly kind: 'missing'; readonly variable: string }
  | { readonly kind: 'bad-date'; readonly source: string; readonly message: string };

/** Key of the list in the scope of a rendering that looks for faults; no template can name a symbol. */
export const FOUND = Symbol('found faults');

export interface FindingScope {
  readonly [FOUND]?: FoundFault[];
}

/** The filter `date`: while searching for faults, an unreadable date is recorded, and nothing is printed for it. */
export const dateFilter: FilterHandler = function (value, format, input) {
  try {
    return formatDate(value, format, input);
  } catch (error) {
    const found = (this.context.environments as FindingScope)[FOUND];
    if (found === undefined || !(error instanceof BadDate)) throw error;
    found.push({ kind: 'bad-date', source: findWhole(this.token), message: error.message });
    return '';
  }
};

/** The output or tag around a filter, as an error that ends the rendering names it. */
function findWhole({ input, begin }: { readonly input: string; readonly begin: number }): string {
  const start = Math.max(input.lastIndexOf('{{', begin), input.lastIndexOf('{%', begin), 0);
  const end = input.indexOf(input.startsWith('{%', start) ? '%}' : '}}', begin);
  return input.slice(start, end === -1 ? undefined : end + 2);
}
