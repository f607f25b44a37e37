import type { Area } from '../domain/areas.js';
import type { StopFault } from '../domain/errors.js';
import { isObject, parseJson } from '../domain/is-object.js';
import {
  CAMPAIGN_REFUSAL,
  CHAT_FORWARDED,
  KEY_FAULT_PREFIX,
  RESEND_TOO_EARLY,
  RESEND_TOO_EARLY_STATUS,
} from '../domain/service-facts.js';

/** The result of one request: a whole answer, or how it failed. */
export type Answer = Response | TransportFailure;

export interface Response {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface TransportFailure {
  readonly kind: 'failure';
  /** False only when it is certain that no byte of the request was processed. */
  readonly mayHaveBeenProcessed: boolean;
  /** Short and free of secrets: "no answer within 60 s (UND_ERR_HEADERS_TIMEOUT)", or a code that says as much, `ECONNREFUSED`. */
  readonly reason: string;
  readonly fault?: StopFault | undefined;
}

/** RFC 9110, 10.2.3: seconds or an HTTP date. Undefined when absent or unreadable; never negative, always finite. */
export function readRetryAfterMs(response: Response, nowMs: number): number | undefined {
  const header = response.headers['retry-after'];
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  if (!/^[A-Z][a-z]{2},/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/**
 * The body as JSON, with a byte order mark or without; undefined when it is empty or something else. An integer that a
 * number would round, such as an id of 64 bits, is its digits as text.
 */
export function readJsonBody(response: Response): unknown {
  return parseJson(quoteLongIntegers(response.body.toString('utf8').replace(/^\uFEFF/, '')));
}

/** A text without its end matches, too: else a body of many would take the square of its length. */
const TEXT_OR_LONG_INTEGER = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*(?:"|$)|(?<![\w.+-])-?\d{16,}(?![\w.])/g;

function quoteLongIntegers(json: string): string {
  if (!/\d{16}/.test(json)) return json;
  const isExact = (token: string) => token.startsWith('"') || Number.isSafeInteger(Number(token));
  return json.replace(TEXT_OR_LONG_INTEGER, (token) => (isExact(token) ? token : `"${token}"`));
}

// What stands in a body: each reader returns the value, or undefined for another type.

/** A text that is not empty. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An integer that loses no digit, or its digits as text. */
export function readInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** An identifier, which the service writes as text or as a number: the first of the fields that may have it. */
export function readId(...fields: readonly unknown[]): string | undefined {
  return fields
    .map((value) => (typeof value === 'number' ? readInteger(value)?.toString() : readText(value)))
    .find(Boolean);
}

/** A time in ISO 8601, as it stands: the first of the fields that may have it. */
export function readTime(...fields: readonly unknown[]): string | undefined {
  return fields.map(readText).find((text) => text !== undefined && !Number.isNaN(Date.parse(text)));
}

/** An optional body: an object, which is empty where the body says nothing; undefined for what is not JSON, such as a page. */
export function readObjectOrNothing(response: Response): Record<string, unknown> | undefined {
  const isBlank = response.body.toString('latin1').trim() === '';
  const body = isBlank ? {} : readJsonBody(response);
  return body === undefined || isObject(body) ? body : {};
}

/**
 * The digits of a number as an answer repeats it: as text or as a number, with or without plus or zeros in front, with
 * what people put between digits. Exact: there are 15 at most. Undefined for an incomplete number, such as a masked
 * one.
 */
export function readNamedNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? value : undefined;
  if (typeof value !== 'string' || !WHOLE.test(value.trim())) return undefined;
  const digits = Number(PLAIN.test(value) ? value : value.replace(/\D/g, ''));
  return Number.isSafeInteger(digits) && digits > 0 ? digits : undefined;
}

/** A number as nearly every service writes it. */
const PLAIN = /^\+?\d+$/;
const WHOLE = /^\+?[\d\s().-]+$/;

/** Whether an answer names a number other than the one that was sent. An omitted or masked number is not another one. */
export function isAnotherNumber(named: unknown, sent: unknown): boolean {
  const number = readNamedNumber(named);
  return number !== undefined && number !== readNamedNumber(sent);
}

// The body of an error.

/**
 * Why the service refused: its own code and message if present, else the HTTP status. Each area has its own body:
 * - sms, contacts, verification: `{ code, message, errorId, timestamp }`
 * - gateway: `{ message, errors: [{ code, message }], referenceId }`; `errors` is also one object, or a list of texts
 * - campaign: `{ message }`
 * - chat: `{ fault: { faultstring, detail: { errorcode } } }`
 */
export function readErrorBody(response: Response): { code: string; message: string } {
  const body = readJsonBody(response);
  const { code, words } = isObject(body) ? readWords(body) : { code: undefined, words: [] };
  const said = [...new Set(words.filter((text) => text !== undefined))].join('; ');
  return {
    code: code ?? `http-${response.status}`,
    message: said === '' ? `The service answered HTTP ${response.status}` : said,
  };
}

/** 403 says both "not you" and "not yet": true for the latter: the number may not get another SMS so soon. */
export function isResendTooEarly(response: Response): boolean {
  return response.status === RESEND_TOO_EARLY_STATUS && readErrorBody(response).code === RESEND_TOO_EARLY;
}

/** The fault of a key that is refused. The contract does not show its HTTP status, so the body decides. */
export function isKeyFault(response: Response): boolean {
  const body = readJsonBody(response);
  return isObject(body) && isObject(body.fault) && (readFault(body.fault).code ?? '').startsWith(KEY_FAULT_PREFIX);
}

/**
 * Whether the service itself answers, in the form of its area, and not something in between: a proxy or a firewall
 * answers with a page, with nothing, or with JSON of its own, also when the service has done what was asked.
 */
export function isOwnError(response: Response, area: Area): boolean {
  const body = readJsonBody(response);
  return isObject(body) && OWN_FORMS[area](body);
}

type Form = (body: Record<string, unknown>) => boolean;

/** Smaller codes are HTTP statuses and those of gRPC: proxies write them, too. */
const FIRST_OWN_CODE = 1000;

const isCoded: Form = ({ code, message, errorId }) => {
  const number = readInteger(code);
  if (number === undefined) return false;
  return readText(errorId) !== undefined || (number >= FIRST_OWN_CODE && readText(message) !== undefined);
};

/** A fault of what stands before the servers of gateway and chat, found before the request was forwarded. */
const isFault: Form = ({ fault }) => {
  const { code, words } = isObject(fault) ? readFault(fault) : { code: undefined, words: [] };
  return code !== undefined && words[0] !== undefined && !CHAT_FORWARDED.test(code);
};

const OWN_FORMS: Readonly<Record<Area, Form>> = {
  sms: isCoded,
  contacts: isCoded,
  verification: isCoded,
  gateway: (body) =>
    isFault(body) || (readText(body.message) !== undefined && typeof body.errors === 'object' && body.errors !== null),
  campaign: ({ message }) => CAMPAIGN_REFUSAL.test(readText(message) ?? ''),
  chat: isFault,
};

interface Words {
  readonly code: string | undefined;
  /** What it says, from the general to the particular. */
  readonly words: readonly (string | undefined)[];
}

function readWords(body: Record<string, unknown>): Words {
  if (isObject(body.fault)) return readFault(body.fault);
  const errors = (Array.isArray(body.errors) ? body.errors : [body.errors]).map(readError);
  return {
    code: readId(body.code) ?? errors.find((error) => error.code !== undefined)?.code,
    words: [readText(body.message), ...errors.map((error) => error.message)],
  };
}

function readFault(fault: Record<string, unknown>): Words {
  const detail = isObject(fault.detail) ? fault.detail : {};
  return { code: readText(detail.errorcode), words: [readText(fault.faultstring)] };
}

function readError(error: unknown): { code: string | undefined; message: string | undefined } {
  if (!isObject(error)) return { code: undefined, message: readText(error) };
  return { code: readId(error.code), message: readText(error.message) };
}
