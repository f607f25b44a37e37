import {
  CHAT_POLICY_PREFIX,
  KEY_FAULT_PREFIX,
  RESEND_TOO_EARLY,
  RESEND_TOO_EARLY_STATUS,
} from '../domain/documented.js';
import { isObject } from '../domain/is-object.js';
import { type Response, readJsonBody } from './answer.js';
import { readId, readText } from './json-value.js';

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
 * Whether the service itself refuses, in its area's form, and not an intermediary: `{ code, errorId }`, the gateway's
 * `{ errors, referenceId }`, or the chat's policy fault, which is checked before the request is forwarded. The
 * campaign's `{ message }` cannot be distinguished from a proxy's.
 */
export function isOwnError(response: Response): boolean {
  const body = readJsonBody(response);
  if (!isObject(body)) return false;
  if (isObject(body.fault)) return (readFault(body.fault).code ?? '').startsWith(CHAT_POLICY_PREFIX);
  const isSms = readId(body.code) !== undefined && readText(body.errorId) !== undefined;
  return isSms || (body.errors !== undefined && body.errors !== null && readText(body.referenceId) !== undefined);
}

interface Words {
  readonly code: string | undefined;
  /** From the general to the particular. */
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
