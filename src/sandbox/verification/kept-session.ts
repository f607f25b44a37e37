import type { SessionCreation } from './session-request.js';

/**
 * States of a session. A code is sent → WAITING; the right code → VERIFIED; a wrong one counts as an attempt, the fifth → FAILED;
 * the time `expiresAt` → EXPIRED. All but WAITING are final. EXPIRED follows from the time and is written nowhere.
 */
export type SessionStatus = StoredStatus | 'EXPIRED';
type StoredStatus = 'WAITING' | 'VERIFIED' | 'FAILED';

/** What the service knows of a session. Times are ISO 8601 UTC. */
export interface KeptSession {
  readonly sessionId: string;
  readonly subAccountId: string;
  /** International, as a number. */
  readonly destination: number;
  readonly status: StoredStatus;
  /** Wrong codes so far. */
  readonly attempt: number;
  readonly expiresAt: string;
  /** Before it no other SMS is sent to the destination. */
  readonly nextSmsAfter: string;
  readonly code: string;
  /** The last SMS. */
  readonly text: string;
  readonly source: string | null;
}

/** From the service's documentation. */
const MAX_ATTEMPTS = 5;

export interface NewSession {
  readonly sessionId: string;
  readonly subAccountId: string;
  readonly code: string;
}

/** A session whose code has just been sent. `now` in ms since 1970. */
export function openSession(identity: NewSession, request: SessionCreation, now: number): KeptSession {
  const { destination } = request;
  return { ...identity, destination, status: 'WAITING', attempt: 0, ...describeSms(identity.code, request, now) };
}

/** The same session and code, sent again; attempts are kept, the validity restarts. */
export function resendCode(session: KeptSession, request: SessionCreation, now: number): KeptSession {
  return { ...session, ...describeSms(session.code, request, now) };
}

/** The same object when the check changes nothing: the session is final. */
export function tryCode(session: KeptSession, code: string, now: number): KeptSession {
  if (statusAt(session, now) !== 'WAITING') return session;
  if (code === session.code) return { ...session, status: 'VERIFIED' };
  const attempt = session.attempt + 1;
  return { ...session, attempt, status: attempt < MAX_ATTEMPTS ? 'WAITING' : 'FAILED' };
}

export function statusAt({ status, expiresAt }: KeptSession, now: number): SessionStatus {
  return status === 'WAITING' && now >= Date.parse(expiresAt) ? 'EXPIRED' : status;
}

/** The answer to a creation. */
export function toCreationBody(session: KeptSession, now: number) {
  const { sessionId: sessionID, destination, attempt, expiresAt, nextSmsAfter: retryAfter } = session;
  const status = statusAt(session, now);
  return { sessionID, verifyUri: pathOf(session), destination, status, attempt, expiresAt, retryAfter };
}

/** The answer to a read or a check. */
export function toReadBody(session: KeptSession, now: number) {
  const { sessionId: uid, destination, attempt, expiresAt, nextSmsAfter } = session;
  const status = statusAt(session, now);
  return { uid, resourceUri: pathOf(session), destination, status, attempt, expiresAt, nextSmsAfter };
}

function describeSms(code: string, request: SessionCreation, now: number) {
  const { template, brand, source, codeValidity, resendingInterval } = request;
  return {
    expiresAt: new Date(now + codeValidity * 1000).toISOString(),
    nextSmsAfter: new Date(now + resendingInterval * 1000).toISOString(),
    code,
    text: renderText(template, { code, brand }),
    source,
  };
}

/** Default texts are those of the service's documentation; a brand that is asked for and not given is empty. */
function renderText(
  template: string | undefined,
  { code, brand }: { code: string; brand: string | undefined },
): string {
  const fallback =
    brand === undefined ? 'Your verification code is {code}' : '{brand}: Your verification code is {code}';
  const values: Readonly<Record<string, string>> = { '{code}': code, '{brand}': brand ?? '' };
  return (template ?? fallback).replace(/\{code\}|\{brand\}/g, (placeholder) => values[placeholder] ?? '');
}

function pathOf({ subAccountId, sessionId }: KeptSession): string {
  return `/api/v2/subaccounts/${encodeURIComponent(subAccountId)}/sessions/${sessionId}`;
}
