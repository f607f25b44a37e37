import { CODE_LENGTH } from '../../domain/documented.js';
import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import type { ServiceAddresses } from '../../job/job.js';
import { type Response, readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson, encodePathId, getRequest, jsonRequest, type WireRequest } from '../endpoint.js';
import { readId, readInteger, readText, readTime } from '../json-value.js';
import { isAnotherNumber, readNamedNumber } from './named-number.js';

/** A session as it is asked for. Contract: "Verification creation request body"; limits: documented.ts. */
export interface SessionRequest {
  /** National with `country`, or international. */
  readonly destination: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  /** Replaces `{brand}` in the text. */
  readonly brand?: string;
  /** The SMS, with `{code}` and where wanted `{brand}`. */
  readonly template?: string;
  readonly codeLength?: number;
  /** Seconds. */
  readonly codeValidity?: number;
  /** Seconds in which the number gets no second SMS. */
  readonly resendingInterval?: number;
  /** True: a new code for a number that has a session; else the same code again. */
  readonly resetSession?: boolean;
  /** `source` is the sender id. */
  readonly sms?: { readonly source?: string; readonly encoding?: 'AUTO' | 'GSM7' | 'UCS2' };
}

export interface SessionInput {
  readonly sessionId: string;
}

export interface CodeInput extends SessionInput {
  /** What the end user gave. */
  readonly code: string;
}

/** The form of a code: the longest is that which the service makes, with its dash. */
export const VERIFICATION_CODE = new RegExp(`^[A-Za-z0-9-]{${CODE_LENGTH.min},${CODE_LENGTH.max + 1}}$`);

/** Both forms of the contract's session, its creation's and its read's, as one. Missing fields are undefined. */
export interface Session {
  readonly sessionId: string;
  /** One of SESSION_STATUSES, or a newer one of the service. */
  readonly status: string;
  /** Wrong codes so far. */
  readonly attempt: number | undefined;
  /** ISO 8601, as the service wrote it. */
  readonly expiresAt: string | undefined;
  /** ISO 8601: no other SMS before it. */
  readonly retryAfter: string | undefined;
  /** E.164, with the plus. */
  readonly destination: string | undefined;
  /** Path of the session, as a creation's answer has it. */
  readonly verifyUri: string | undefined;
  /** Path of the session, as a read's answer has it. */
  readonly resourceUri: string | undefined;
}

/** Endpoint 1. Not idempotent: each call sends an SMS. */
export const createSession: Endpoint<SessionRequest, Session> = {
  name: 'create a verification session',
  area: 'verification',
  isRepeatable: () => false,
  request: (service, session) => sessionRequest(service, encodeJson(session)),
  read: readCreatedSession,
};

/** Endpoint 2 without a code: changes nothing. */
export const readSession: Endpoint<SessionInput, Session> = {
  name: 'read a verification session',
  area: 'verification',
  isRepeatable: () => true,
  request: (service, { sessionId }) => getRequest(sessionAddress(service, sessionId)),
  read: readAskedSession,
};

/** Endpoint 2 with a code. A wrong one counts as an attempt each time; `readSession` resolves a lost answer. */
export const checkCode: Endpoint<CodeInput, Session> = {
  name: 'check a verification code',
  area: 'verification',
  isRepeatable: () => false,
  request: (service, { sessionId, code }) => {
    if (code === '') {
      // The service would take it for a read, and answer WAITING.
      throw new UserError(
        'bad-input',
        'Cannot check a verification code: it is empty, expected the code that the person entered',
      );
    }
    const { base, path } = sessionAddress(service, sessionId);
    return getRequest({ base, path: `${path}?code=${encodeURIComponent(code)}` });
  },
  read: readAskedSession,
};

/** How a session is asked for, from its JSON text. Contract: endpoint 1. */
export function sessionRequest(service: ServiceAddresses, body: Buffer): WireRequest {
  return jsonRequest(sessionsAddress(service), body);
}

/** A session from either form of the contract; undefined for a body without its id or status. */
export function readSessionBody(body: unknown): Session | undefined {
  if (!isObject(body)) return undefined;
  const sessionId = readId(body.uid ?? body.sessionID ?? body.sessionId);
  const status = readText(body.status);
  if (sessionId === undefined || status === undefined) return undefined;
  return {
    sessionId,
    status,
    attempt: readInteger(body.attempt),
    expiresAt: readTime(body.expiresAt),
    retryAfter: readTime(body.nextSmsAfter ?? body.retryAfter),
    destination: readDestination(body.destination),
    verifyUri: readText(body.verifyUri),
    resourceUri: readText(body.resourceUri),
  };
}

function readCreatedSession(response: Response, { destination }: SessionRequest): Session | undefined {
  const session = readSessionBody(readJsonBody(response));
  // Only an international number can be compared: how the service reads a national one is not known.
  const isForeign = destination.trim().startsWith('+') && isAnotherNumber(session?.destination, destination);
  return isForeign ? undefined : session;
}

/** Undefined for another session than the one that was asked for. */
function readAskedSession(response: Response, { sessionId }: SessionInput): Session | undefined {
  const session = readSessionBody(readJsonBody(response));
  return session !== undefined && foldSessionId(session.sessionId) === foldSessionId(sessionId) ? session : undefined;
}

/** The service writes an id with or without the dashes of a UUID: ids that fold to the same text are one session. */
export function foldSessionId(sessionId: string): string {
  return sessionId.replaceAll('-', '').toLowerCase();
}

function readDestination(value: unknown): string | undefined {
  const digits = readNamedNumber(value);
  return digits === undefined ? undefined : `+${digits}`;
}

function sessionsAddress({ subAccountId, bases }: ServiceAddresses): { base: string; path: string } {
  return { base: bases.verification, path: `/api/v2/subaccounts/${encodeURIComponent(subAccountId)}/sessions` };
}

function sessionAddress(service: ServiceAddresses, sessionId: string): { base: string; path: string } {
  const { base, path } = sessionsAddress(service);
  return { base, path: `${path}/${encodePathId(sessionId, 'a session id')}` };
}
