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
  return anObject('Request body must be a JSON object').pipe(z.object(shape));
}

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

/** The body as the schema makes it, or why it is refused. */
export function checkBody<Body>(schema: z.ZodType<Body>, body: unknown): { body: Body } | RefusedRequest {
  const checked = schema.safeParse(body);
  if (checked.success) return { body: checked.data };
  const [issue] = checked.error.issues;
  const code = issue?.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
  return { status: 400, code, message: issue?.message };
}
