import { Drop, type FilterImplOptions } from 'liquidjs';
import { clip } from '../domain/text.js';
import { BadDate, formatDate } from './dates-and-numbers.js';

type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;

export interface RenderFault {
  /** The variable at fault, as the template writes it; empty if there is none. */
  readonly variable: string;
  readonly code: 'missing-value' | 'nested-value' | 'bad-date' | 'not-rendered';
  readonly reason: string;
}

/** Key of the faults that are found, in the scope of a rendering, which goes on to find all of them; no template can name a symbol. */
export const FOUND = Symbol('found faults');

/** The filter `date`: of a date that cannot be read nothing is printed. */
export const dateFilter: FilterHandler = function (value, format, input) {
  try {
    return formatDate(value, format, input);
  } catch (error) {
    if (!(error instanceof BadDate)) throw error;
    const reason = `Cannot render ${clip(findWhole(this.token), MAX_SOURCE_LENGTH)}: ${error.message}`;
    (this.context.environments as { [FOUND]?: RenderFault[] })[FOUND]?.push({ variable: '', code: 'bad-date', reason });
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
 * filters pass it on, so that `default` catches it anywhere; printing or looping over it is a fault of the row.
 */
export class MissingCell extends Drop {
  readonly #variables: readonly string[];
  readonly #found: RenderFault[];

  /** `found`: takes the faults. */
  constructor(variables: readonly string[], found: RenderFault[]) {
    super();
    this.#variables = variables;
    this.#found = found;
  }

  static refuse(value: unknown): void {
    if (value instanceof MissingCell) value.#found.push(...value.#variables.map(describeMissing));
    else if (value === undefined || value === null) throw new Error('a value is missing');
  }

  /** Joins this cell and the missing ones among the operands of a filter to one. */
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

/** How many characters are shown of what failed in a template. */
export const MAX_SOURCE_LENGTH = 80;

export function describeMissing(variable: string): RenderFault {
  const reason = `Cannot fill ${showVariable(variable)}: the row has no value, expected one, or a default in the template: {{ … | default: "…" }}`;
  return { variable, code: 'missing-value', reason };
}

/** No reader is sent `{"first":"Ann"}`. */
export function describeNested(variable: string): RenderFault {
  const reason = `Cannot fill ${showVariable(variable)}: the row has an object or a list there, expected a text; write it into the file as one`;
  return { variable, code: 'nested-value', reason };
}

/** Shows a variable as a template would write it. */
export function showVariable(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_.[\]-]*$/u.test(name) ? `{{ ${name} }}` : `{{ ['${name}'] }}`;
}
