import type { Answer, Response } from './answer.js';
import { isKeyFault, isResendTooEarly } from './errors.js';

/** What an answer means for its request. Rows of a 2xx are read by the step's kind. */
export type Decision =
  /** Send again after a backoff: it was not processed, or the service makes it safe to repeat. */
  | { readonly kind: 'again'; readonly why: string; readonly mayHaveBeenProcessed: boolean }
  /** Not processed; the whole lane waits at least `retryAfterMs`, undefined where the service named no time. */
  | { readonly kind: 'wait'; readonly why: string; readonly retryAfterMs: number | undefined }
  /** 2xx: the body must account for each row. */
  | { readonly kind: 'read' }
  /** Refused as a whole: rejected, a batch in halves until the rows at fault stand alone. */
  | { readonly kind: 'refused'; readonly status: number }
  /** A person must look; nothing more is sent. */
  | {
      readonly kind: 'stop';
      readonly reason: 'unauthorized' | 'redirected';
      readonly why: string;
      readonly mayHaveBeenProcessed: boolean;
    }
  /** It may have been processed: held, never sent again by itself. */
  | { readonly kind: 'in-doubt'; readonly why: string };

/**
 * Decides what an answer means (design: "What an answer means"). Pure: `nowMs` only turns an HTTP date into a delay.
 * `isRepeatable`: the service makes it safe to send the same request again (a read, an upsert).
 */
export function decideAnswer(answer: Answer, request: { isRepeatable: boolean; nowMs: number }): Decision {
  if (answer.kind === 'failure') {
    return answer.mayHaveBeenProcessed
      ? hold(answer.reason, request.isRepeatable)
      : { kind: 'again', why: answer.reason, mayHaveBeenProcessed: false };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'read' };
  const why = `HTTP ${status}`;
  if (status >= 300 && status < 400) {
    return { kind: 'stop', reason: 'redirected', why, mayHaveBeenProcessed: !NOT_PROCESSED_HERE.has(status) };
  }
  if (isResendTooEarly(answer)) return { kind: 'refused', status };
  if (status === 401 || status === 403 || (status >= 400 && isKeyFault(answer))) {
    return { kind: 'stop', reason: 'unauthorized', why, mayHaveBeenProcessed: false };
  }
  if (status === 429 || status === 503) {
    return { kind: 'wait', why, retryAfterMs: readRetryAfterMs(answer, request.nowMs) };
  }
  if (OF_THE_WAY.has(status)) return hold(why, request.isRepeatable);
  if (status >= 400 && status < 500) return { kind: 'refused', status };
  // 5xx other than 503, and whatever no standard names: the service had the request, and did not say what became of it.
  return hold(why, request.isRepeatable);
}

/** An answer came, and says nothing of the request: it may be that to another one, and this one's may come next on its connection. */
export function mayBeStray(answer: Answer, decision: Decision): boolean {
  const isUnknown = decision.kind === 'in-doubt' || (decision.kind === 'again' && decision.mayHaveBeenProcessed);
  return answer.kind === 'response' && isUnknown;
}

/** RFC 9110, 15.4: the request belongs elsewhere. 303 says that it was processed, and where the result is. */
const NOT_PROCESSED_HERE: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * 408 Request Timeout, 460 and 499 Client Closed Request: what proxies and load balancers say of a connection that ended,
 * also after they passed the request on. The service lists none of them.
 */
const OF_THE_WAY: ReadonlySet<number> = new Set([408, 460, 499]);

function hold(why: string, isRepeatable: boolean): Decision {
  return isRepeatable ? { kind: 'again', why, mayHaveBeenProcessed: true } : { kind: 'in-doubt', why };
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
