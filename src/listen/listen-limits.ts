/** Limits of one listener; the service repeats deliveries that were not answered 2xx. */
export interface ListenLimits {
  /** Of one body. A gateway event or a receipt has about 1 KB. */
  readonly bodyBytes: number;
  /** Of all pending bodies together: above it deliveries are answered 503. */
  readonly bytesUnderWay: number;
  readonly connections: number;
  /** From the first byte of a request to the last of its headers. */
  readonly headersMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestMs: number;
  /** How long an idle connection stays open. */
  readonly idleMs: number;
  /** How often the two above are checked. */
  readonly checkMs: number;
  /** How long a stop waits for pending requests. */
  readonly drainMs: number;
}

const MIB = 1024 * 1024;

export const LISTEN_LIMITS: ListenLimits = {
  bodyBytes: MIB,
  bytesUnderWay: 256 * MIB,
  connections: 4096,
  headersMs: 10_000,
  requestMs: 15_000,
  idleMs: 30_000,
  checkMs: 1000,
  drainMs: 10_000,
};
