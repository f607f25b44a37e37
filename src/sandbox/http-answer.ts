import { randomUUID } from 'node:crypto';

/** An HTTP answer as a value, so that faults can change it before it leaves. A string body is sent as it stands. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Error codes of the service that the sandbox gives; numbers as its public documentation lists them. */
export const ERROR_CODE = {
  invalidParameter: 1000,
  illegalSubAccount: 1001,
  invalidMsisdn: 1002,
  encoding: 1003,
  text: 1004,
  source: 1005,
  expiry: 1006,
  template: 1007,
  country: 1009,
  outOfRange: 1010,
  scheduled: 1011,
  bulkLimit: 1100,
  notAuthenticated: 1200,
  forbidden: 1201,
  notFound: 1300,
  resendInterval: 1400,
  internal: 2000,
  clientMessageIdTooLong: 3009,
  sourceTooLong: 3011,
  messagesMissing: 3012,
  tooManyMessages: 3013,
  clientBatchIdTooLong: 3014,
  receiptUrl: 3020,
  /** Not listed by the documentation; it names the status 409 only. */
  conflict: 409,
  quotaExceeded: 429,
} as const;

/** A number in the areas whose errors look like those of SMS, a word in others. */
export type ErrorCode = number | string;

/** A request that is refused; code and text are the usual ones of the status where they are missing. */
export interface RefusedRequest {
  readonly status: number;
  readonly code?: ErrorCode | undefined;
  readonly message: string | undefined;
}

/** How the errors of an area look. */
export interface ErrorForm {
  /** Its own statuses; any other comes from something between client and service. */
  readonly statuses: Readonly<Record<number, { readonly code?: ErrorCode; readonly message: string }>>;
  readonly contentType?: string;
  body(code: ErrorCode | undefined, message: string): unknown;
}

/** The usual code and text of a status, in SMS, contacts and verification, and of a path that is no area's. */
const CODED_STATUSES: ErrorForm['statuses'] = {
  400: { code: ERROR_CODE.invalidParameter, message: 'Invalid request' },
  401: { code: ERROR_CODE.notAuthenticated, message: 'Request was not authenticated properly' },
  404: { code: ERROR_CODE.notFound, message: 'Not found' },
  413: { code: ERROR_CODE.bulkLimit, message: 'Request body is too large' },
  429: { code: ERROR_CODE.quotaExceeded, message: 'Quota exceeded. Please try again in 1 second(s).' },
  500: { code: ERROR_CODE.internal, message: 'Internal server error' },
};

/** The answer to a refused request, in the area's own form. `now` in ms since 1970. */
export function answerRefused(refused: RefusedRequest, form: ErrorForm | undefined, now: number): HttpAnswer {
  const { status } = refused;
  const usual = (form?.statuses ?? CODED_STATUSES)[status];
  const code = refused.code ?? usual?.code;
  const message = refused.message ?? usual?.message ?? '';
  if (form === undefined) return answerError(status, { code: code ?? ERROR_CODE.invalidParameter, message }, now);
  return answerJson(status, form.body(code, message), contentTypeOf(form));
}

export function contentTypeOf({ contentType }: ErrorForm): Record<string, string> {
  return contentType === undefined ? {} : { 'content-type': contentType };
}

export function answerJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** The error body of SMS, contacts and verification: code, message, errorId, timestamp. `now` in ms since 1970. */
export function answerError(
  status: number,
  refusal: { readonly code: ErrorCode; readonly message: string },
  now: number,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const body = { ...refusal, errorId: randomUUID(), timestamp: new Date(now).toISOString() };
  return answerJson(status, body, headers);
}

/** A page as a proxy in front of the service sends it. */
export function answerHtml(status: number, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  const title = status < 400 ? 'Please wait' : `${status} error`;
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}
