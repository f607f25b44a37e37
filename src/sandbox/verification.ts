import { createHash } from 'node:crypto';
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { z } from 'zod';
import {
  type AreaEntry,
  type Codes,
  defineRoute,
  ENCODINGS,
  isTooLongSource,
  numberAt,
  type SandboxArea,
  someText,
} from './area.js';
import { ERROR_CODE, INVALID_MSISDN, type RefusedRequest } from './http-answer.js';

/** A code that was sent by SMS, or a check that changed a session. The rest is the session as it stood from then on. */
export type VerificationEntry = AreaEntry<'verification', SessionRow>;

interface SessionRow extends KeptSession {
  readonly event: 'code-sent' | 'code-checked';
}

/**
 * States of a session. A code is sent → WAITING; the right code → VERIFIED; a wrong one counts as an attempt, the fifth → FAILED;
 * the time `expiresAt` → EXPIRED. All but WAITING are final. EXPIRED follows from the time and is written nowhere.
 */
type SessionStatus = KeptSession['status'] | 'EXPIRED';

/** What the service knows of a session. Times are ISO 8601 UTC. */
interface KeptSession {
  readonly sessionId: string;
  readonly subAccountId: string;
  /** The international number. */
  readonly destination: number;
  readonly status: 'WAITING' | 'VERIFIED' | 'FAILED';
  /** Wrong codes so far. */
  readonly attempt: number;
  readonly expiresAt: string;
  /** A time before which no other SMS is sent to the destination. */
  readonly nextSmsAfter: string;
  readonly code: string;
  /** The last SMS. */
  readonly text: string;
  readonly source: string | null;
}

const SESSIONS = '/api/v2/subaccounts/:subAccountId/sessions';
/** From the service's documentation. */
const MAX_ATTEMPTS = 5;

/** Verification: a code goes out by SMS, and a session says whether it came back. At most one session of a number is WAITING. */
export function createVerificationArea(newId: () => string): SandboxArea {
  const sessions = new Map<string, KeptSession>();
  /** The last session of each number of each subaccount. */
  const lastIdOf = new Map<string, string>();

  return {
    name: 'verification',
    routes: [
      defineRoute(`POST ${SESSIONS}`, 'subAccountId', {
        schema: creationSchema,
        codes: CODES,
        recipients: numberAt('destination'),
        handle: ({ at, params: { subAccountId = '' }, body }) => {
          const last = sessions.get(lastIdOf.get(`${subAccountId} ${body.destination}`) ?? '');
          const waiting = last !== undefined && statusAt(last, at) === 'WAITING' ? last : undefined;
          if (waiting !== undefined && at < Date.parse(waiting.nextSmsAfter)) {
            const message = `Resending interval has not passed, another SMS is allowed after ${waiting.nextSmsAfter}`;
            return { status: 403, code: ERROR_CODE.resendInterval, message };
          }
          // Sent again, a session keeps code and attempts; its validity restarts.
          const isAgain = waiting !== undefined && !body.resetSession;
          const session: KeptSession = {
            sessionId: waiting?.sessionId ?? newId().replaceAll('-', ''),
            subAccountId,
            destination: body.destination,
            status: 'WAITING',
            attempt: isAgain ? waiting.attempt : 0,
            ...describeSms(isAgain ? waiting.code : createCode(newId(), body.codeLength), body, at),
          };
          const row: SessionRow = { event: 'code-sent', ...session };
          return { status: 200, body: toCreationBody(session), entries: [row] };
        },
      }),
      defineRoute(`GET ${SESSIONS}/:sessionId`, 'subAccountId', {
        handle: ({ at, params: { subAccountId, sessionId = '' }, query: { code } }) => {
          const session = sessions.get(sessionId);
          if (session === undefined || session.subAccountId !== subAccountId) return NO_SESSION;
          if (code === undefined) return { status: 200, body: toReadBody(session, at) };
          // A refused code is not an attempt.
          if (typeof code !== 'string' || code.length < 3 || code.length > 10) {
            return { status: 400, message: 'code must be a text of 3 to 10 characters' };
          }
          const checked = tryCode(session, code, at);
          const row: SessionRow = { event: 'code-checked', ...checked };
          return { status: 200, body: toReadBody(checked, at), entries: checked === session ? [] : [row] };
        },
      }),
      defineRoute('GET /_sandbox/sessions/:sessionId', 'anyone', {
        handle: ({ at, params: { sessionId = '' } }) => {
          const session = sessions.get(sessionId);
          if (session === undefined) return NO_SESSION;
          return { status: 200, body: { ...session, status: statusAt(session, at) } };
        },
      }),
    ],
    apply: ({ event: _, ...session }: SessionRow) => {
      sessions.set(session.sessionId, session);
      lastIdOf.set(`${session.subAccountId} ${session.destination}`, session.sessionId);
    },
    clear: () => {
      sessions.clear();
      lastIdOf.clear();
    },
  };
}

/** Limits and defaults of the service's documentation. Seconds are in `codeValidity` and `resendingInterval`. */
const creationSchema = z
  .object({
    country: z
      .string()
      .refine((value) => isSupportedCountry(value.toUpperCase()), 'expected a two-letter country code')
      .optional(),
    brand: z.string().max(30).optional(),
    template: someText.optional(),
    resetSession: z.boolean().default(false),
    codeLength: z.int().min(3).max(10).default(4),
    codeValidity: z.int().min(30).max(7200).default(300),
    resendingInterval: z.int().min(10).max(7200).default(10),
    // The contract sends by SMS; the sandbox has no other channel.
    channel: z.literal('sms').optional(),
    sms: z
      .object({
        source: someText.refine((source) => !isTooLongSource(source), 'Reached max allowed limit').optional(),
        encoding: z.enum(ENCODINGS).optional(),
      })
      .optional(),
    destination: z.unknown().optional(),
  })
  .transform((body, context) => {
    const destination = toNumber(body.destination, body.country?.toUpperCase() as CountryCode | undefined);
    if (destination !== undefined) return { ...body, destination };
    context.addIssue({ code: 'custom', path: ['destination'], message: INVALID_MSISDN });
    return z.NEVER;
  });

const CODES: Codes = {
  destination: ERROR_CODE.invalidMsisdn,
  country: ERROR_CODE.country,
  template: ERROR_CODE.template,
  'sms.source': ERROR_CODE.source,
  'sms.encoding': ERROR_CODE.encoding,
};

/** What people put between the digits; the service takes it out. */
const FORMATTING = /[\s()[\].-]/g;
const WITH_PLUS = /^\+[1-9][0-9]{6,14}$/;

/**
 * The international number, without plus, of a destination as a person writes it; undefined when it is invalid.
 * Without a plus it is read in its country; where there is none either, the digits must begin with a country's prefix.
 */
function toNumber(written: unknown, country: CountryCode | undefined): number | undefined {
  if (typeof written !== 'string') return undefined;
  const compact = written.replace(FORMATTING, '');
  if (compact.startsWith('+')) return WITH_PLUS.test(compact) ? Number(compact) : undefined;
  if (!/^[0-9]{3,17}$/.test(compact)) return undefined;
  const number =
    country === undefined
      ? parsePhoneNumberFromString(`+${compact}`, { extract: false })
      : parsePhoneNumberFromString(compact, { defaultCountry: country, extract: false });
  return number?.isPossible() ? Number(number.number) : undefined;
}

/** What a code's SMS is. `now` in ms since 1970. */
function describeSms(code: string, request: z.output<typeof creationSchema>, now: number) {
  const { template, brand, sms, codeValidity, resendingInterval } = request;
  // Default texts are those of the service's documentation; a brand that is asked for and not given is empty.
  const usual = brand === undefined ? 'Your verification code is {code}' : '{brand}: Your verification code is {code}';
  const values: Readonly<Record<string, string>> = { '{code}': code, '{brand}': brand ?? '' };
  return {
    expiresAt: new Date(now + codeValidity * 1000).toISOString(),
    nextSmsAfter: new Date(now + resendingInterval * 1000).toISOString(),
    code,
    text: (template ?? usual).replace(/\{code\}|\{brand\}/g, (placeholder) => values[placeholder] ?? ''),
    source: sms?.source ?? null,
  };
}

/** Digits that follow from the id: who gives the ids knows the codes. */
function createCode(id: string, length: number): string {
  const digest = createHash('sha256').update(id).digest('hex');
  return (BigInt(`0x${digest}`) % 10n ** BigInt(length)).toString().padStart(length, '0');
}

/** Checks a code; returns the same object when that changes nothing: the session is final. */
function tryCode(session: KeptSession, code: string, now: number): KeptSession {
  if (statusAt(session, now) !== 'WAITING') return session;
  if (code === session.code) return { ...session, status: 'VERIFIED' };
  const attempt = session.attempt + 1;
  return { ...session, attempt, status: attempt < MAX_ATTEMPTS ? 'WAITING' : 'FAILED' };
}

function statusAt({ status, expiresAt }: KeptSession, now: number): SessionStatus {
  return status === 'WAITING' && now >= Date.parse(expiresAt) ? 'EXPIRED' : status;
}

function toCreationBody(session: KeptSession) {
  const { sessionId: sessionID, destination, status, attempt, expiresAt, nextSmsAfter: retryAfter } = session;
  return { sessionID, verifyUri: toPath(session), destination, status, attempt, expiresAt, retryAfter };
}

function toReadBody(session: KeptSession, now: number) {
  const { sessionId: uid, destination, attempt, expiresAt, nextSmsAfter } = session;
  const status = statusAt(session, now);
  return { uid, resourceUri: toPath(session), destination, status, attempt, expiresAt, nextSmsAfter };
}

function toPath({ subAccountId, sessionId }: KeptSession): string {
  return `/api/v2/subaccounts/${encodeURIComponent(subAccountId)}/sessions/${sessionId}`;
}

const NO_SESSION: RefusedRequest = { status: 404, code: ERROR_CODE.sessionNotFound, message: 'Session not found' };
