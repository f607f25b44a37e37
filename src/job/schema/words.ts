import type { z } from 'zod';
import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import { suggestNearest } from '../../domain/text.js';

/**
 * What the schema says of a value that it refuses. Either "expected …", before which explain/ puts the key and what stands there; or what
 * is so of the key, such as "names no column, expected …". A second line is a hint.
 */

/** The `error` of a schema: `what` is expected; where nothing is written, the hint is what the key is for, and for a misspelt word the nearest. */
export function expected(what: string) {
  return (issue: z.core.$ZodRawIssue): string => {
    const branches = issue.code === 'invalid_union' ? (issue.errors as z.core.$ZodIssue[][]) : [];
    const words = branches.flat().flatMap(wordsOf);
    return withHint(
      `expected ${what}`,
      issue.input === undefined ? (issue.inst as z.ZodType | undefined)?.description : suggest(issue.input, words),
    );
  };
}

/** What is said where a schema has no words of its own. */
export function wordIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return expected(TYPES[issue.expected] ?? issue.expected)(issue);
    case 'invalid_value':
      return expectOneOf(issue.values.map(String), issue.input);
    case 'invalid_union': {
      const { options = [], discriminator = '' } = issue as { options?: readonly unknown[]; discriminator?: string };
      return expectOneOf(options.map(String), (issue.input as Record<string, unknown>)[discriminator]);
    }
    case 'too_small':
      return expectSize('at least', Number(issue.minimum), issue.origin);
    case 'too_big':
      return expectSize('at most', Number(issue.maximum), issue.origin);
    case 'unrecognized_keys':
      // The keys that there are: explain/ says it of each that is not.
      return Object.keys((issue.inst as z.ZodObject).shape).join(', ');
    case 'invalid_key':
      return 'has an empty key, expected a name';
    default:
      return 'is not as it must be';
  }
}

/** Options of a rule over several keys of a map: it runs unless one of these keys is at fault, whatever is at fault elsewhere. */
export function whenSound(...keys: readonly string[]): z.core.$ZodSuperRefineParams {
  return {
    when: ({ value, issues }) => isObject(value) && !issues.some(({ path }) => keys.includes(String(path?.[0]))),
  };
}

/** What is wrong with a value: "expected …", or what is so of the key. */
export interface ValueFault {
  readonly message: string;
  readonly hint?: string | undefined;
  /** Where it is, below the value that has the rule. */
  readonly path?: readonly string[];
}

/** A rule of a value, for `superRefine`: `find` says what is wrong with it. */
export function rule<T>(find: (value: T) => ValueFault | string | undefined) {
  return (value: T, context: z.core.$RefinementCtx): void => {
    const fault = find(value);
    if (fault === undefined) return;
    const { message, hint, path = [] } = typeof fault === 'string' ? { message: fault } : fault;
    context.addIssue({ code: 'custom', path: [...path], message: withHint(message, hint) });
  };
}

/** The first fault of a text that is no template; throws any other error. */
export function describeTemplateFault(error: unknown, so: string): ValueFault {
  if (!(error instanceof UserError)) throw error;
  const { message, hint } = error.problems[0] ?? error;
  const more = error.problems.length > 1 ? `, and ${error.problems.length - 1} more` : '';
  return { message: `${so}: ${message}${more}`, hint };
}

export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}\n${hint}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  array: 'a list',
};

function suggest(written: unknown, words: readonly string[]): string | undefined {
  const nearest = typeof written === 'string' ? suggestNearest(written, words) : undefined;
  return nearest && `Did you mean ${nearest}?`;
}

function wordsOf(issue: z.core.$ZodIssue): string[] {
  return issue.code === 'invalid_value' && issue.path.length === 0 ? issue.values.map(String) : [];
}

function expectOneOf(words: readonly string[], written: unknown): string {
  const shown = words.map((word) => (/^[\w.-]+$/.test(word) ? word : JSON.stringify(word))).join(', ');
  return withHint(words.length === 1 ? `expected ${shown}` : `expected one of ${shown}`, suggest(written, words));
}

function expectSize(side: string, bound: number, origin: string): string {
  if (origin === 'string' && side === 'at least' && bound === 1) return 'expected some text';
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? (bound === 1 ? ' entry' : ' entries') : '';
  return `expected ${side} ${bound}${unit}`;
}
