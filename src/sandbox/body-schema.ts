import { z } from 'zod';
import { isObject } from '../domain/is-object.js';
import type { ErrorCode, RefusedRequest } from './http-answer.js';

/**
 * Bodies as the service checks them: schemas whose issues carry the text of the refusal and, where it is not the
 * usual one of the status, a code. The first issue refuses, so fields stand in the order in which they are checked.
 */

/** A text, or what makes one of the place in the body and the value that is there. */
type RefusalText = string | ((issue: { path?: PropertyKey[] | undefined; input?: unknown }) => string);

/** A value that a check takes; `text` and `code` refuse any other. */
export function aValue<Value>(isRight: (value: unknown) => boolean, text: RefusalText, code?: ErrorCode) {
  return z.custom<Value>(isRight, refusedBy(text, code));
}

/** For `refine`: what refuses, and ends the checks of this value. */
export function refusedBy(error: RefusalText, code?: ErrorCode) {
  return { error, params: { code }, abort: true };
}

/** A text of 1 to `max` characters. */
export function textOf(max: number, text: RefusalText, code?: ErrorCode) {
  return aValue<string>((value) => isText(value, max), text, code);
}

/** The whole body: an object with these fields; others are dropped. */
export function bodyOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return anObject(NO_OBJECT).pipe(z.object(shape));
}

export const NO_OBJECT = 'Request body must be a JSON object';

export function anObject(text: RefusalText, code?: ErrorCode) {
  return aValue<Record<string, unknown>>(isObject, text, code);
}

export function isText(value: unknown, max = Number.POSITIVE_INFINITY): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= max;
}

/** An absolute address of the web. */
export function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

export function isCountry(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z]{2}$/.test(value);
}

export function isEncoding(value: unknown): boolean {
  return value === 'AUTO' || value === 'GSM7' || value === 'UCS2';
}

const MSISDN = /^\+?[1-9][0-9]{6,14}$/;

export function isMsisdn(value: unknown): boolean {
  return typeof value === 'string' && MSISDN.test(value);
}

const NUMERIC = /^\+?\d+$/;

/** Above 11 characters, or 16 of a number: limits of the service's documentation. */
export function isTooLongSource(source: string): boolean {
  return source.length > (NUMERIC.test(source) ? 16 : 11);
}

/** Gives the body as the schema makes it, or says why it is refused. */
export function checkedBy<Schema extends z.ZodType>(schema: Schema) {
  return (body: unknown): { body: z.output<Schema> } | RefusedRequest => {
    const checked = schema.safeParse(body);
    if (checked.success) return { body: checked.data };
    const [issue] = checked.error.issues;
    const code = issue?.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
    return { status: 400, code, message: issue?.message };
  };
}
