import type { Answer, Response } from './answer.js';
import { isKeyFault, isOwnError, isResendTooEarly } from './error-body.js';
import { wasNeverForwarded } from './never-forwarded.js';
import { readRetryAfterMs } from './retry-after.js';

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
      readonly reason: 'unauthorized' | 'redirected' | 'request-refused';
      readonly why: string;
      readonly mayHaveBeenProcessed: boolean;
    }
  /**
   * It may have been processed: in doubt, never repeated automatically. `isTurnedAway`: an intermediary asks for a
   * lower rate.
   */
  | { readonly kind: 'in-doubt'; readonly why: string; readonly isTurnedAway?: boolean };

/** What the decision depends on beside the answer. */
export interface Asked {
  /** The service makes it safe to send the same request again (a read, an upsert). */
  readonly isRepeatable: boolean;
  /** `service.trustUnavailable`: every 503 counts as not processed. */
  readonly trustUnavailable?: boolean | undefined;
  readonly nowMs: number;
}

/** Decides what an answer means (jobs/reference/limits-and-answers.md, "What an answer means"). Pure: `nowMs` only turns an HTTP date into a delay. */
export function decideAnswer(answer: Answer, request: Asked): Decision {
  if (answer.kind === 'failure') {
    return answer.mayHaveBeenProcessed
      ? hold(answer.reason, request.isRepeatable)
      : { kind: 'again', why: answer.reason, mayHaveBeenProcessed: false };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'read' };
  const why = `HTTP ${status}`;
  if (status >= 300 && status < 400) {
    // Also a 302: an intermediary may have forwarded the request and redirect all the same.
    return { kind: 'stop', reason: 'redirected', why, mayHaveBeenProcessed: true };
  }
  if (isResendTooEarly(answer)) return { kind: 'refused', status };
  if (status === 401 || status === 403 || (status >= 400 && isKeyFault(answer))) {
    return { kind: 'stop', reason: 'unauthorized', why, mayHaveBeenProcessed: false };
  }
  if (status === 429 || status === 503) return decideTurnedAway(answer, request);
  if (INTERMEDIARY_STATUSES.has(status)) return hold(why, request.isRepeatable);
  if (status >= 400 && status < 500) return { kind: 'refused', status };
  // Other 5xx and unknown statuses: the service had the request, and did not say what became of it.
  return hold(why, request.isRepeatable);
}

/** Whether the answer asks for a lower rate, processed or not. */
export function wasTurnedAway(decision: Decision): boolean {
  return decision.kind === 'wait' || (decision.kind === 'in-doubt' && decision.isTurnedAway === true);
}

/**
 * Whether an answer says nothing about its request: it may belong to another one, and this one's may come next on the
 * connection.
 */
export function mayBeStray(answer: Answer, decision: Decision): boolean {
  const isUnknown = decision.kind === 'in-doubt' || (decision.kind === 'again' && decision.mayHaveBeenProcessed);
  return answer.kind === 'response' && isUnknown;
}

/**
 * 429 and 503 mean "not processed" with the service's own error body. A proxy also sends 503 when the service took the
 * request and only the answer was lost ("upstream connect error or disconnect/reset before headers").
 */
function decideTurnedAway(answer: Response, { isRepeatable, trustUnavailable, nowMs }: Asked): Decision {
  const { status } = answer;
  const retryAfterMs = readRetryAfterMs(answer, nowMs);
  const isCertain =
    retryAfterMs !== undefined ||
    isOwnError(answer) ||
    (status === 503 && (trustUnavailable === true || wasNeverForwarded(answer)));
  if (isRepeatable || isCertain) return { kind: 'wait', why: `HTTP ${status}`, retryAfterMs };
  return { kind: 'in-doubt', why: `HTTP ${status} without the service's error body`, isTurnedAway: true };
}

/**
 * 408 Request Timeout, 460 and 499 Client Closed Request: sent by proxies and load balancers for a connection that
 * ended, even after they forwarded the request. The service lists none of them.
 */
const INTERMEDIARY_STATUSES: ReadonlySet<number> = new Set([408, 460, 499]);

function hold(why: string, isRepeatable: boolean): Decision {
  return isRepeatable ? { kind: 'again', why, mayHaveBeenProcessed: true } : { kind: 'in-doubt', why };
}
