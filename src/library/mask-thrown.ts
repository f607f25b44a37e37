import { maskNumbers } from '../normalize/mask.js';

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
