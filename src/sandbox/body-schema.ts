import { z } from 'zod';
import { isObject } from '../domain/is-object.js';
import { ERROR_CODE, type ErrorCode, INVALID_MSISDN, type RefusedRequest } from './http-answer.js';

/** Bodies as the service checks them. The first issue refuses, so fields stand in the order in which they are checked. */

/**
 * Codes of places in a body that have one of their own, such as `sms.source`, or one for too much, such as `clientBatchId too_big`. '' is
 * the body itself; the places of lists are left out.
 */
export type Codes = Readonly<Record<string, ErrorCode>>;

/** Gives the body as the schema makes it, or says why it is refused. */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, codes: Codes = {}) {
  return (body: unknown): { body: z.output<Schema> } | RefusedRequest => {
    const checked = schema.safeParse(body);
    if (checked.success) return { body: checked.data };
    const [issue] = checked.error.issues;
    const place = issue?.path.join('.') ?? '';
    const field = issue?.path.filter((part) => typeof part !== 'number').join('.') ?? '';
    const isOutOfRange = (issue?.code === 'too_small' || issue?.code === 'too_big') && issue.origin === 'number';
    const code = codes[`${field} ${issue?.code}`] ?? codes[field] ?? (isOutOfRange ? ERROR_CODE.outOfRange : undefined);
    return { status: 400, code, message: place === '' ? issue?.message : `${place}: ${issue?.message}` };
  };
}

/** A text of one character at least. */
export const someText = z.string().min(1);

/** An absolute address of the web. */
export const absoluteUrl = z
  .string()
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'expected an absolute http or https address');

export const country = z.string().regex(/^[A-Za-z]{2}$/, 'expected a two-letter country code');

export const ENCODINGS = ['AUTO', 'GSM7', 'UCS2'] as const;

const MSISDN = /^\+?[1-9][0-9]{6,14}$/;

export const msisdn = z.string(INVALID_MSISDN).regex(MSISDN, INVALID_MSISDN);

export function isMsisdn(value: unknown): boolean {
  return typeof value === 'string' && MSISDN.test(value);
}

/** Finds the number at a place of a body, by which a fault can choose; '' where there is none. */
export function numberAt(...place: readonly string[]) {
  return (body: unknown): readonly string[] => {
    const found = place.reduce((value, key) => (isObject(value) ? value[key] : undefined), body);
    return [typeof found === 'string' ? found : ''];
  };
}

const NUMERIC = /^\+?\d+$/;

/** Above 11 characters, or 16 of a number: limits of the service's documentation. */
export function isTooLongSource(source: string): boolean {
  return source.length > (NUMERIC.test(source) ? 16 : 11);
}
