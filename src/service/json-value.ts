import { isObject } from '../domain/is-object.js';
import { type Response, readJsonBody } from './answer.js';

/** Readers of values in an answer: each returns the value, or undefined for another type. */

/** Undefined for no text and for the empty one. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An integer that loses no digit, or its digits as text. */
export function readInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** An identifier, which the service writes as text or as a number. */
export function readId(value: unknown): string | undefined {
  return typeof value === 'number' ? readInteger(value)?.toString() : readText(value);
}

/** A time in ISO 8601, as it stands. */
export function readTime(value: unknown): string | undefined {
  const text = readText(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}

/** An optional body: an object, empty without a body; undefined for anything else, such as a page. */
export function readObjectOrNothing(response: Response): Record<string, unknown> | undefined {
  if (response.body.length === 0) return {};
  const body = readJsonBody(response);
  return isObject(body) ? body : undefined;
}
