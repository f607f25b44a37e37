import { answerJson, type HttpAnswer } from '../http-answer.js';

/** Text and code of each status. The contract shows the 401 only; the others follow its form. */
const FAULTS = {
  400: { faultstring: 'Bad request', errorcode: 'request.Invalid' },
  401: { faultstring: 'Invalid access token', errorcode: 'oauth.v2.InvalidAccessToken' },
  403: { faultstring: 'Forbidden', errorcode: 'request.Forbidden' },
  404: { faultstring: 'Not found', errorcode: 'request.NotFound' },
  413: { faultstring: 'Request body is too large', errorcode: 'request.TooLarge' },
  429: { faultstring: 'Rate limit of 5 requests per second exceeded', errorcode: 'policies.ratelimit.QuotaViolation' },
  500: { faultstring: 'Internal server error', errorcode: 'request.Internal' },
} as const;

type FaultStatus = keyof typeof FAULTS;

/** An error of the workplace chat; `text` in the place of the status's own. */
export function answerFault(
  status: FaultStatus,
  text: string = FAULTS[status].faultstring,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return answerJson(status, toBody(status, text), headers);
}

/** The chat's body of a status that a fault sets; undefined for a status that is not the chat's. */
export function chatBodyOfStatus(status: number): unknown {
  return isFaultStatus(status) ? toBody(status, FAULTS[status].faultstring) : undefined;
}

function isFaultStatus(status: number): status is FaultStatus {
  return Object.hasOwn(FAULTS, status);
}

function toBody(status: FaultStatus, faultstring: string) {
  return { fault: { faultstring, detail: { errorcode: FAULTS[status].errorcode } } };
}
