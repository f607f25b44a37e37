import { type Area, KINDS, type Kind } from '../domain/areas.js';

/** How fast a step or an area is; undefined where there is no such limit, or no such unit. */
export interface Limits {
  readonly requestsPerSecond: number;
  readonly messagesPerSecond: number | undefined;
  readonly segmentsPerSecond: number | undefined;
  /** Requests in flight at once. */
  readonly concurrency: number;
}

/** Volley's own choice for areas that publish nothing: a polite rate for a single key. */
const UNPUBLISHED = {
  requestsPerSecond: 100,
  messagesPerSecond: undefined,
  segmentsPerSecond: undefined,
  concurrency: 64,
} as const satisfies Limits;

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
  chat: { requestsPerSecond: 5, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 5 },
  // None published: capped like SMS for the same account, since a migration of millions needs more than a polite rate.
  contacts: { requestsPerSecond: 1800, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 256 },
  verification: UNPUBLISHED,
  gateway: UNPUBLISHED,
  campaign: UNPUBLISHED,
};

/** What a step of a kind gets that sets no limits. */
export const defaultLimits = Object.fromEntries(
  Object.entries(KINDS).map(([kind, { defaultLimits: limits }]): [string, Limits] => [
    kind,
    { messagesPerSecond: undefined, segmentsPerSecond: undefined, ...limits },
  ]),
) as Readonly<Record<Kind, Limits>>;

/** What single calls of an area get: as steps of the first kind that uses it. */
export const defaultLimitsOfArea = Object.fromEntries(
  Object.entries(KINDS)
    .toReversed()
    .map(([kind, { area }]) => [area, defaultLimits[kind as Kind]]),
) as Readonly<Record<Area, Limits>>;
