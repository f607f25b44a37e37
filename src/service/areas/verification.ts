import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import { CODE_LENGTH, ENDPOINTS } from '../../domain/service-facts.js';
import {
  isAnotherNumber,
  type Response,
  readId,
  readInteger,
  readJsonBody,
  readNamedNumber,
  readText,
  readTime,
} from '../answer.js';
import { defineEndpoint } from '../endpoint.js';

/** A session as it is asked for. Contract: "Verification creation request body"; limits: service-facts.ts. */
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

/** The form of a code, documented; one that the service makes with a dash has as many characters. */
export const VERIFICATION_CODE = new RegExp(`^[A-Za-z0-9-]{${CODE_LENGTH.min},${CODE_LENGTH.max}}$`);

export const createSession = defineEndpoint(
  ENDPOINTS.createSession,
  (session: SessionRequest) => {
    // Programs without types may give none, or a number.
    if (typeof session.destination !== 'string') {
      throw new UserError(
        'bad-input',
        'Cannot create a verification session: its destination is not text, expected a phone number',
      );
    }
    return { body: session };
  },
  (response, { destination }) => {
    const session = readSessionBody(readJsonBody(response));
    // Only an international number can be compared: how the service reads a national one is not known.
    const isForeign = destination.trim().startsWith('+') && isAnotherNumber(session?.destination, destination);
    return isForeign ? undefined : session;
  },
);

export const readSession = defineEndpoint(
  ENDPOINTS.readSession,
  ({ sessionId }: SessionInput) => ({ ids: { sessionId } }),
  readAskedSession,
);

export const checkCode = defineEndpoint(
  ENDPOINTS.checkCode,
  ({ sessionId, code }: CodeInput) => {
    // The service would take it for a read; programs without types may give none.
    if (typeof code !== 'string' || code === '') {
      throw new UserError(
        'bad-input',
        'Cannot check a verification code: it is empty, expected the code that the person entered',
      );
    }
    return { ids: { sessionId }, query: { code } };
  },
  readAskedSession,
);

/** Both forms of the contract's session, its creation's and its read's, as one. Missing fields are undefined. */
export type Session = Readonly<NonNullable<ReturnType<typeof readSessionBody>>>;

/** A session from either form of the contract; undefined for a body without its id or status. */
export function readSessionBody(body: unknown) {
  if (!isObject(body)) return undefined;
  const sessionId = readId(body.uid, body.sessionID, body.sessionId);
  const status = readText(body.status)?.toUpperCase();
  if (sessionId === undefined || status === undefined) return undefined;
  const digits = readNamedNumber(body.destination);
  return {
    sessionId,
    /** One of SESSION_STATUSES, or a newer one of the service. */
    status,
    /** Wrong codes so far. */
    attempt: readInteger(body.attempt),
    /** ISO 8601, as the service wrote it. */
    expiresAt: readTime(body.expiresAt),
    /** ISO 8601: no other SMS before it. */
    retryAfter: readTime(body.nextSmsAfter, body.retryAfter),
    /** E.164, with the plus. */
    destination: digits === undefined ? undefined : `+${digits}`,
    /** Path of the session, as a creation's answer has it. */
    verifyUri: readText(body.verifyUri),
    /** Path of the session, as a read's answer has it. */
    resourceUri: readText(body.resourceUri),
  };
}

/** Reads the session that was asked for; undefined for another one. */
function readAskedSession(response: Response, { sessionId }: SessionInput): Session | undefined {
  const session = readSessionBody(readJsonBody(response));
  return session !== undefined && foldSessionId(session.sessionId) === foldSessionId(sessionId) ? session : undefined;
}

/** The service writes an id with or without the dashes of a UUID: ids that fold to the same text are one session. */
export function foldSessionId(sessionId: string): string {
  return sessionId.replaceAll('-', '').toLowerCase();
}
