import { Drop, type FilterImplOptions } from 'liquidjs';
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

/**
 * What stands for an empty cell while LiquidJS renders. It is falsy in conditions and equal to nothing but "nothing";
 * filters pass it on, so that `default` catches it anywhere; printing or looping over it throws `MissingValue`.
 */
export class MissingCell extends Drop {
  readonly #variables: readonly string[];
  readonly #found: FoundFault[] | undefined;

  /** With `found`, the fault is recorded there instead of thrown, and nothing is printed. */
  constructor(variables: readonly string[], found: FoundFault[] | undefined) {
    super();
    this.#variables = variables;
    this.#found = found;
  }

  static refuse(value: unknown): void {
    if (value instanceof MissingCell) {
      if (value.#found === undefined) throw new MissingValue(value.#variables[0]);
      for (const variable of value.#variables) value.#found.push({ kind: 'missing', variable });
      return;
    }
    if (value === undefined || value === null) throw new MissingValue(undefined);
  }

  /** This one and those among the operands of a filter, as one. */
  join(operands: readonly unknown[]): MissingCell {
    const cells = operands.filter((operand) => operand instanceof MissingCell);
    return cells.length < 2 ? this : new MissingCell([...cells.flatMap((cell) => cell.#variables)], this.#found);
  }

  override valueOf(): null {
    return null;
  }

  /** `{{ name.size }}` of a missing name is missing too. */
  override liquidMethodMissing(): this {
    return this;
  }

  equals(other: unknown): boolean {
    if (other === undefined || other === null || other === '' || other === false) return true;
    // `empty` and `blank` compare the same way round as nil does: by what they hold.
    return other instanceof Drop && !other.valueOf();
  }

  gt(): boolean {
    return false;
  }

  geq(): boolean {
    return false;
  }

  lt(): boolean {
    return false;
  }

  leq(): boolean {
    return false;
  }
}

/** A text needs a value that is missing. `variable` is undefined if it is not a cell of the row. */
export class MissingValue extends Error {
  override readonly name = 'MissingValue';
  readonly variable: string | undefined;

  constructor(variable: string | undefined) {
    super('a value is missing');
    this.variable = variable;
  }
}

/** The filter, except that it passes a missing cell on unchanged. */
export function passMissing(filter: FilterImplOptions): FilterImplOptions {
  const handler = typeof filter === 'function' ? filter : filter.handler;
  return function (this: ThisParameterType<typeof handler>, value: unknown, ...args: unknown[]) {
    for (const given of [value, ...args]) {
      const operand = operandOf(given);
      if (operand instanceof MissingCell) return operand.join([value, ...args].map(operandOf));
    }
    return handler.call(this, value, ...args);
  };
}

/** A named argument arrives as [name, value]. */
function operandOf(given: unknown): unknown {
  return Array.isArray(given) ? given[1] : given;
}
