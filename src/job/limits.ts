import { z } from 'zod';
import { type Area, KINDS, type Kind } from '../domain/areas.js';
import { count } from './schema/values.js';

/** How fast a step or an area is; undefined where there is no such limit, or no such unit. */
export interface Limits {
  readonly requestsPerSecond: number;
  readonly messagesPerSecond: number | undefined;
  readonly segmentsPerSecond: number | undefined;
  /** Requests in flight at once. */
  readonly concurrency: number;
}

/** Messages and their parts are counted for SMS alone. */
export const UNCOUNTED = { messagesPerSecond: undefined, segmentsPerSecond: undefined };

/** Volley's own choice for areas that publish nothing: a polite rate for a single key. */
const UNPUBLISHED: Limits = { ...UNCOUNTED, requestsPerSecond: 100, concurrency: 64 };

/**
 * Hard caps on what a job may set. The published ones are from the service's public developer documentation.
 * Concurrency is Volley's choice everywhere: it means sockets, and 1,800 requests a second at 140 ms each need 256.
 */
export const ceilings: Readonly<Record<Area, Limits>> = {
  sms: {
    // "API rate limits": 1,800 requests a second for a subaccount (3,000 for an address); above it 429 with Retry-After: 1.
    requestsPerSecond: 1800,
    // "Batch SMS": 10,000 messages per request is roughly 25,000 messages per second.
    messagesPerSecond: 25_000,
    // Volley's choice: ten parts a message, the most that the service takes.
    segmentsPerSecond: 250_000,
    concurrency: 256,
  },
  // "Chat API": 5 requests a second for a key. What happens above it is not documented, so it is the cap.
  chat: { ...UNCOUNTED, requestsPerSecond: 5, concurrency: 5 },
  // None published: capped like SMS for the same account, since a migration of millions needs more than a polite rate.
  contacts: { ...UNCOUNTED, requestsPerSecond: 1800, concurrency: 256 },
  verification: UNPUBLISHED,
  gateway: UNPUBLISHED,
  campaign: UNPUBLISHED,
};

/** What a step gets that sets no limits: far below the ceilings, so that a first job is never the one that meets them. */
export const defaultLimits: Readonly<Record<Kind, Limits>> = {
  contacts: { ...UNCOUNTED, requestsPerSecond: 20, concurrency: 8 },
  sms: { ...UNCOUNTED, requestsPerSecond: 20, messagesPerSecond: 1000, concurrency: 8 },
  // A session is an SMS to a person who waits for it; a check is one read.
  'verification.start': { ...UNCOUNTED, requestsPerSecond: 10, concurrency: 8 },
  'verification.check': { ...UNCOUNTED, requestsPerSecond: 20, concurrency: 8 },
  // A conversation is work for a person at the other end.
  conversations: { ...UNCOUNTED, requestsPerSecond: 10, concurrency: 8 },
  campaign: { ...UNCOUNTED, requestsPerSecond: 1, concurrency: 1 },
  chat: { ...UNCOUNTED, requestsPerSecond: 1, concurrency: 1 },
};

/** What single calls of an area get: as steps of the first kind that uses it. */
export const defaultLimitsOfArea = Object.fromEntries(
  Object.entries(KINDS)
    .toReversed()
    .map(([kind, { area }]) => [area, defaultLimits[kind as Kind]]),
) as Readonly<Record<Area, Limits>>;

function limitsUpTo(most: Partial<Limits>, requests = 'Requests in any one second') {
  const rate = (ceiling: number | undefined, of: string) => {
    const positive = z.number().min(0.01);
    const bounded = ceiling === undefined ? positive : positive.max(ceiling);
    return bounded.optional().describe(`${of}. A fraction means one in several seconds.`);
  };
  return z.strictObject({
    requestsPerSecond: rate(most.requestsPerSecond, requests),
    messagesPerSecond: rate(most.messagesPerSecond, 'Messages in any one second'),
    segmentsPerSecond: rate(most.segmentsPerSecond, 'SMS parts in any one second'),
    concurrency: count(most.concurrency).optional().describe('Requests in flight at once.'),
  });
}

/** Limits at the top of the file, for every step with rows. job-rules.ts checks them against the steps' ceilings. */
export const sharedLimits = limitsUpTo({}).describe(
  'How fast to send, for steps with input. The limits of a step override these.',
);

const STEP_HELP = 'How fast this step sends; overrides the limits at the top.';

export const smsLimits = limitsUpTo(ceilings.sms, 'Requests (batches) in any one second').describe(STEP_HELP);

/** Limits of a step in which one row is one request; `row` says what it makes. */
export function rowLimits(area: Area, row: string) {
  return limitsUpTo(ceilings[area], `Requests in any one second; ${row} is a request`)
    .pick({ requestsPerSecond: true, concurrency: true })
    .describe(STEP_HELP);
}

/** Limits of a step without rows, which makes its few calls one after the other; the limits at the top are not for it. */
export function actionLimits(area: Area) {
  return limitsUpTo(ceilings[area]).pick({ requestsPerSecond: true }).describe('How fast this step calls the service.');
}
