import type { Area } from '../domain/areas.js';
import {
  CAMPAIGN_REFUSAL,
  CHAT_FORWARDED,
  KEY_FAULT_PREFIX,
  RESEND_TOO_EARLY,
  RESEND_TOO_EARLY_STATUS,
} from '../domain/documented.js';
import { isObject } from '../domain/is-object.js';
import { type Response, readJsonBody } from './answer.js';
import { readId, readInteger, readText } from './json-value.js';

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
