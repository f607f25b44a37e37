import type { Area } from '../domain/areas.js';
import type { StopFault } from '../domain/errors.js';
import {
  type Answer,
  isKeyFault,
  isOwnError,
  isResendTooEarly,
  type Response,
  readErrorBody,
  readRetryAfterMs,
} from './answer.js';

/** What an answer means for its request. Rows of a 2xx are read by the step's kind. */
export type Decision =
  /** Send again after a backoff: it was not processed, or the service makes it safe to repeat. */
  | ({ readonly kind: 'again'; readonly mayHaveBeenProcessed: boolean } & Why)
  /** Not processed; the whole lane waits at least `retryAfterMs`, undefined where the service named no time. */
  | ({ readonly kind: 'wait'; readonly retryAfterMs: number | undefined } & Why)
  /** 2xx: the body must account for each row. */
  | { readonly kind: 'read' }
  /** Refused as a whole: rejected, a batch in halves until the rows at fault stand alone. */
  | { readonly kind: 'refused'; readonly status: number }
  /** A person must look; nothing more is sent. */
  | ({
      readonly kind: 'stop';
      readonly reason: 'unauthorized' | 'redirected' | 'request-refused';
      readonly mayHaveBeenProcessed: boolean;
    } & Why)
  /**
   * It may have been processed: in doubt, never repeated automatically. `isTurnedAway`: an intermediary asks for a
   * lower rate, and the lane waits as it does for `wait`.
   */
  | ({ readonly kind: 'in-doubt'; readonly isTurnedAway?: boolean; readonly retryAfterMs?: number | undefined } & Why);

/** In words, and as data where a person can do something about it. */
export interface Why {
  readonly why: string;
  readonly fault?: StopFault | undefined;
}

/** What the decision depends on beside the answer. */
export interface Asked {
  /** The area of the call: each has its own form of an error. */
  readonly area: Area;
  /** The service makes it safe to send the same request again (a read, an upsert). */
  readonly isRepeatable: boolean;
  /** `service.trustUnavailable`: every 503 counts as not processed. */
  readonly trustUnavailable?: boolean | undefined;
  readonly nowMs: number;
}

/**
 * Decides what an answer means (jobs/reference/limits-and-answers.md, "What an answer means"). Pure: `nowMs` only turns
 * an HTTP date into a delay.
 */
export function decideAnswer(answer: Answer, asked: Asked): Decision {
  if (answer.kind === 'failure') {
    return answer.mayHaveBeenProcessed
      ? hold({ why: answer.reason, fault: answer.fault }, asked.isRepeatable)
      : { kind: 'again', why: answer.reason, fault: answer.fault, mayHaveBeenProcessed: false };
  }
  const { status } = answer;
  const why = `HTTP ${status}`;
  if (status >= 200 && status < 300) return { kind: 'read' };
  if (status >= 300 && status < 400) {
    // A 302 too: an intermediary may have forwarded the request and redirect all the same.
    return { kind: 'stop', reason: 'redirected', why, mayHaveBeenProcessed: true };
  }
  return status < 400 ? hold({ why }, asked.isRepeatable) : decideError(answer, asked);
}

/** "Not processed" is believed of the service's own error body alone. */
function decideError(answer: Response, { area, isRepeatable, trustUnavailable, nowMs }: Asked): Decision {
  const { status } = answer;
  const isOwn = isOwnError(answer, area);
  const plain = { why: `HTTP ${status}` };
  const said: Why = isOwn ? plain : { why: `HTTP ${status} without the service's error body`, fault: 'in-between' };
  if (isOwn && isResendTooEarly(answer)) return { kind: 'refused', status };
  if (status === 401 || status === 403 || (isOwn && isKeyFault(answer))) {
    // Its own words say what it minds, which need not be the key.
    const minded = isOwn ? { why: `HTTP ${status}: ${readErrorBody(answer).message}` } : said;
    return { kind: 'stop', reason: 'unauthorized', ...minded, mayHaveBeenProcessed: !isOwn };
  }
  if (status === 429 || status === 503) {
    const retryAfterMs = readRetryAfterMs(answer, nowMs);
    const isCertain = isOwn || (status === 503 && trustUnavailable === true);
    if (isRepeatable || isCertain) return { kind: 'wait', ...plain, retryAfterMs };
    return { kind: 'in-doubt', ...said, isTurnedAway: true, retryAfterMs };
  }
  if (isOwn && status < 500 && !INTERMEDIARY_STATUSES.has(status)) return { kind: 'refused', status };
  // With other statuses the service's own words say nothing either: it had the request.
  return hold(status < 500 ? said : plain, isRepeatable);
}

/** Whether the answer asks for a lower rate, processed or not. */
export function wasTurnedAway(decision: Decision): boolean {
  return decision.kind === 'wait' || (decision.kind === 'in-doubt' && decision.isTurnedAway === true);
}

/** What a 401 or 403 of the service itself means; `isChange` says which of the two tokens of campaigns was sent. */
export function describeWrongKey(area: Area, isChange = true): string {
  const token = isChange ? 'Action Request Token' : 'Data Request Token';
  const key = area === 'campaign' ? `the user name or the ${token} of campaign` : `the API key of ${area}`;
  return `${key} is wrong or not of this account`;
}

/** Why a run stops for an answer, for a person. */
export function explainStop({ reason, why, mayHaveBeenProcessed }: Extract<Decision, { kind: 'stop' }>, area: Area) {
  if (reason === 'request-refused') return why;
  if (reason === 'unauthorized' && !mayHaveBeenProcessed) return `${describeWrongKey(area)} (${why})`;
  if (reason === 'redirected') return `${why} from the service`;
  return `${why}: something in between refuses requests, or the base address is wrong`;
}

/** Says why a 2xx counts as a bad answer: its body accounts for no row. */
export const UNREAD: Why = { why: 'answers that account for no row', fault: 'in-between' };

/** How long the answer asks to wait; undefined where it names no time. */
export function retryAfterOf(decision: Decision): number | undefined {
  return 'retryAfterMs' in decision ? decision.retryAfterMs : undefined;
}

/**
 * Whether an answer says nothing about its request: it may belong to another one, and this one's may come next on the
 * connection.
 */
export function mayBeStray(answer: Answer, decision: Decision): boolean {
  const mayHaveBeenProcessed = 'mayHaveBeenProcessed' in decision && decision.mayHaveBeenProcessed;
  return answer.kind === 'response' && (decision.kind === 'in-doubt' || mayHaveBeenProcessed);
}

/**
 * 408 Request Timeout, 460 and 499 Client Closed Request: sent by proxies and load balancers for a connection that
 * ended, even after they forwarded the request. The service lists none of them.
 */
const INTERMEDIARY_STATUSES: ReadonlySet<number> = new Set([408, 460, 499]);

function hold(why: Why, isRepeatable: boolean): Decision {
  return isRepeatable ? { kind: 'again', ...why, mayHaveBeenProcessed: true } : { kind: 'in-doubt', ...why };
}
