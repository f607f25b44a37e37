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

/** Why a request is refused as a whole. */
export interface RequestRefusal {
  readonly code: number;
  readonly message: string;
}

export function answerJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** The error body that every status from 400 up carries: code, message, errorId, timestamp. `now` in ms since 1970. */
export function answerError(
  status: number,
  refusal: RequestRefusal,
  now: number,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const body = { ...refusal, errorId: randomUUID(), timestamp: new Date(now).toISOString() };
  return answerJson(status, body, headers);
}

/** What SMS, contacts and verification answer to a faulted request about one number. */
export function answerRowFault(
  fault: { readonly kind: string; readonly description: string } | undefined,
  now: number,
): HttpAnswer | undefined {
  if (fault === undefined) return undefined;
  const { kind, description } = fault;
  if (kind === 'reject-rows') return answerError(400, { code: ERROR_CODE.invalidMsisdn, message: description }, now);
  return answerError(500, { code: ERROR_CODE.internal, message: 'Internal server error' }, now);
}

/** A page as a proxy in front of the service sends it. */
export function answerHtml(status: number, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  const title = status < 400 ? 'Please wait' : `${status} error`;
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}

export function isRefusal(value: unknown): value is RequestRefusal {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}
