import type { Quota } from './address-quota.js';

/** Limits of one listener; the service repeats deliveries that were not answered 2xx. */
export interface ListenLimits {
  /** Of one body. A gateway event or a receipt has about 1 KB. */
  readonly bodyBytes: number;
  /** Pending deliveries, each as its body and `REQUEST_BYTES`: above it they are answered 503. */
  readonly pendingBytes: Quota;
  /** Open connections: above it new ones are closed at once. */
  readonly connections: Quota;
  /** From the first byte of a request, or the start of the connection, to the last of its headers. */
  readonly headersMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestMs: number;
  /** How long an idle connection stays open. */
  readonly idleMs: number;
  /** How often the first two are checked. */
  readonly checkMs: number;
  /** How long a stop waits for pending requests. */
  readonly drainMs: number;
}

/** What a pending request takes beside its body: headers, and what Node keeps of it. */
export const REQUEST_BYTES = 4 * 1024;

const KIB = 1024;

/** With these the process takes at most 128 MiB more than at its start, beside 16 to 32 bytes for each event in its file. */
export const LISTEN_LIMITS: ListenLimits = {
  bodyBytes: 128 * KIB,
  pendingBytes: { total: 6144 * KIB, perAddress: 1536 * KIB },
  connections: { total: 1024, perAddress: 256 },
  headersMs: 10_000,
  requestMs: 15_000,
  idleMs: 30_000,
  checkMs: 1000,
  drainMs: 10_000,
};

/** A proxy's connections all come from its address: it may take what all may together. */
export const BEHIND_PROXY: Pick<ListenLimits, 'pendingBytes' | 'connections'> = {
  pendingBytes: withoutShare(LISTEN_LIMITS.pendingBytes),
  connections: withoutShare(LISTEN_LIMITS.connections),
};

function withoutShare({ total }: Quota): Quota {
  return { total, perAddress: total };
}
