import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { type Problem, UserError } from '../domain/errors.js';
import { maskNumbers } from '../normalize/mask.js';

export const signalOption = z.instanceof(AbortSignal, { error: 'expected an AbortSignal' }).optional();

/** Checks what a program gave; refuses it with one UserError 'bad-input' that carries every problem, and no secret. */
export function checkOptions<Schema extends z.ZodType>(doing: string, schema: Schema, options: unknown) {
  const checked = schema.safeParse(options);
  if (checked.success) return checked.data;
  throw refuseOptions(doing, checked.error.issues.flatMap(describeIssue));
}

/** `doing` completes "Cannot …". */
export function refuseOptions(doing: string, problems: readonly Problem[]): UserError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new UserError('bad-input', `Cannot ${doing}: ${first?.where}: ${first?.message}${more}`, {
    hint: 'Fix the options; nothing was sent.',
    problems,
  });
}

function describeIssue(issue: z.core.$ZodIssue): Problem[] {
  const where = issue.path.length === 0 ? 'options' : issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    // Below the credentials, even a key may be a secret.
    const names = issue.path[0] === 'credentials' ? 'a key' : issue.keys.map((key) => JSON.stringify(key)).join(', ');
    return [{ where, message: `has ${names}, expected only known keys` }];
  }
  return [{ where, message: issue.message.replace(/^[A-Z][^:]*: (?=expected)/, '') }];
}

/** Aborts with the signal of a program: many runs and calls may listen to it, and none of them to that one, for which Node would print a warning. */
export function followSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}

/**
 * Passes a result on; masks every text of a thrown error, since programs log it: message, hint, problems, stack and
 * cause. In place, so that class and code stay.
 */
export async function maskThrown<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw maskDeeply(error);
  }
}

/** Does what `maskThrown` does, for synchronous code. */
export function maskThrownBy<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw maskDeeply(error);
  }
}

/** Cycles, such as an error that is its own cause, are visited once. */
function maskDeeply(value: unknown, seen = new Set<unknown>()): unknown {
  if (typeof value === 'string') return maskNumbers(value);
  if (!(value instanceof Error || Array.isArray(value) || isPlain(value)) || seen.has(value)) return value;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    const { value: own } = Reflect.getOwnPropertyDescriptor(value, key) ?? {};
    const masked = maskDeeply(own, seen);
    // Frozen objects stay unchanged.
    if (masked !== own) Reflect.defineProperty(value, key, { value: masked });
  }
  return value;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
