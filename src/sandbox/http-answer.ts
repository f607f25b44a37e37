import { randomUUID } from 'node:crypto';

type AnswerHeaders = Readonly<Record<string, string>>;

/** An HTTP answer as a value, so that faults can change it before it leaves. A string body is sent as it stands. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
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
  sessionNotFound: 1404,
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

export const INVALID_MSISDN = 'Invalid MSISDN format (not E.164 international number)';

/** A number in the areas whose errors look like those of SMS, a word in others. */
export type ErrorCode = number | string;

/** A request that is refused; code and text are the usual ones of the status where they are missing. */
export interface RefusedRequest {
  /** From 400 on. */
  readonly status: number;
  readonly code?: ErrorCode | undefined;
  readonly message?: string | undefined;
}

/** How the errors of an area look. */
export interface ErrorForm {
  /** Its own statuses; any other comes from something between client and service. */
  readonly statuses: Readonly<Record<number, { readonly code?: ErrorCode; readonly message: string }>>;
  readonly contentType?: string;
  /** `now` in ms since 1970. */
  body(code: ErrorCode | undefined, message: string, now: number): unknown;
}

/** Errors of SMS, contacts and verification, and of a path that is no area's. */
export const CODED_ERRORS: ErrorForm = {
  statuses: {
    400: { code: ERROR_CODE.invalidParameter, message: 'Invalid request' },
    401: { code: ERROR_CODE.notAuthenticated, message: 'Request was not authenticated properly' },
    403: { code: ERROR_CODE.forbidden, message: 'Forbidden' },
    404: { code: ERROR_CODE.notFound, message: 'Not found' },
    410: { code: ERROR_CODE.notFound, message: 'Not found any more' },
    413: { code: ERROR_CODE.bulkLimit, message: 'Request body is too large' },
    422: { code: ERROR_CODE.invalidParameter, message: 'Invalid request' },
    426: { code: 1014, message: 'Upgrade required' },
    429: { code: ERROR_CODE.quotaExceeded, message: 'Quota exceeded. Please try again in 1 second(s).' },
    500: { code: ERROR_CODE.internal, message: 'Internal server error' },
    503: { code: ERROR_CODE.internal, message: 'Service unavailable' },
  },
  body: (code, message, now) => ({
    code: code ?? ERROR_CODE.invalidParameter,
    message,
    errorId: randomUUID(),
    timestamp: new Date(now).toISOString(),
  }),
};

export function isRefused(outcome: { readonly status: number }): outcome is RefusedRequest {
  return outcome.status >= 400;
}

/** The answer to a refused request, in the form of its area. `now` in ms since 1970. */
export function answerRefused(refused: RefusedRequest, form: ErrorForm, now: number, headers: AnswerHeaders = {}) {
  const { status, code, message } = refused;
  const usual = form.statuses[status];
  const body = form.body(code ?? usual?.code, message ?? usual?.message ?? '', now);
  const { contentType } = form;
  return answerJson(status, body, { ...(contentType && { 'content-type': contentType }), ...headers });
}

export function answerJson(status: number, body: unknown, headers: AnswerHeaders = {}): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** A page as a proxy in front of the service sends it. */
export function answerHtml(status: number, headers: AnswerHeaders = {}): HttpAnswer {
  const title = status < 400 ? 'Please wait' : `${status} error`;
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}
