import { Agent, Client, type Dispatcher } from 'undici';
import type { Area } from '../domain/areas.js';
import type { StopFault } from '../domain/errors.js';
import type { Timeouts } from '../job/job.js';
import { startTimer } from '../ports/clock.js';
import type { Answer, Response, TransportFailure } from './answer.js';
import { Connector, EARLY_ANSWER, OF_ANOTHER_HOST } from './connector.js';
import type { WireRequest } from './endpoint.js';

/** One HTTP call, ready to go: its authentication is among the headers. */
export interface Call extends WireRequest {
  /** The area of the call, for metrics; absent for an address outside of the service. */
  readonly area?: Area | undefined;
  /**
   * It must not be repeated: it goes over a connection that no other request uses, so that no answer to another one,
   * and no answer too many, is taken for its own.
   */
  readonly hasOwnConnection?: boolean;
  /** Called when its first byte leaves, with the time that it waited for a new connection. Not called if one was open. */
  readonly reportConnectDelay?: ((connectDelayMs: number) => void) | undefined;
}

/** Sends a call exactly once and never throws: failures are answers. */
export interface Transport {
  send(call: Call, signal: AbortSignal | undefined): Promise<Answer>;
  /**
   * Sends later calls over new connections. Call it when an answer says nothing about its request: after one surplus
   * answer, every answer on that connection belongs to the request before. Absent without connections.
   */
  dropConnections?(): void;
  close(): Promise<void>;
}

/** An answer for 10,000 messages is about 3 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;

/** undici with bounded answers; follows no redirect and repeats nothing by itself. */
export function createTransport(timeouts: Timeouts): Transport {
  // Whole milliseconds: undici refuses any other.
  const connectMs = Math.ceil(timeouts.connectSeconds * 1000);
  const answerMs = Math.ceil(timeouts.answerSeconds * 1000);
  const connector = new Connector(connectMs);
  // undici begins to connect before `request` returns, and each connection it makes is for the request that asks for it.
  let asking: Call | undefined;
  const options: Client.Options = {
    connect: (address, callback) => connector.connect(address, asking?.reportConnectDelay, callback),
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    maxResponseSize: MAX_ANSWER_BYTES,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  // Pipelining 0 is undici's word for a connection that is closed behind its request.
  const ownOptions: Client.Options = {
    ...options,
    connect: (address, callback) => connector.connectOwn(address, asking?.reportConnectDelay, callback),
    pipelining: 0,
  };
  const createAgent = () => new Agent({ ...options, pipelining: 1 });
  let agent = createAgent();
  const closing = new Set<Promise<void>>();
  /** Closes a dispatcher, which waits for what is in flight. */
  const retire = (dispatcher: Dispatcher) => {
    const closed = dispatcher.close().finally(() => closing.delete(closed));
    closing.add(closed);
  };
  const dispatch = (call: Call, handler: Dispatcher.DispatchHandler) => {
    const url = new URL(`${call.base}${call.path}`);
    const { method, headers, body } = call;
    const path = `${url.pathname}${url.search}`;
    asking = call;
    const own = call.hasOwnConnection === true ? new Client(url.origin, ownOptions) : undefined;
    (own ?? agent).dispatch({ origin: url.origin, path, method, headers, body: body ?? null }, handler);
    asking = undefined;
    if (own !== undefined) retire(own);
  };
  return {
    send: async (call, signal) => {
      const { abort, start } = createExchange();
      // Not its reason: an error of a caller may look like one of a connection that was never made.
      const abandon = () => abort(new DOMException('The caller gave up', 'AbortError'));
      signal?.addEventListener('abort', abandon, { once: true });
      if (signal?.aborted) abandon();
      // bodyTimeout restarts with every byte; this timeout ends a drip-fed answer.
      const stopTimer = startTimer(connectMs + 2 * answerMs, () => {
        abort(new DOMException('No complete answer arrived in time', 'TimeoutError'));
      });
      try {
        return await start((handler) => dispatch(call, handler));
      } catch (error) {
        const failure = readFailure(error);
        const mayHaveBeenProcessed = failure.mayHaveBeenProcessed && !connector.isNeverConnected(error);
        const reason = wordReason(failure.reason, mayHaveBeenProcessed, timeouts);
        return { ...failure, mayHaveBeenProcessed, reason };
      } finally {
        stopTimer();
        signal?.removeEventListener('abort', abandon);
      }
    },
    dropConnections: () => {
      retire(agent);
      agent = createAgent();
      connector.drop();
    },
    close: async () => {
      connector.close();
      await Promise.all([agent.close(), ...closing]);
    },
  };
}

/**
 * One request and its answer, which rejects with what ended it before it was complete. By undici's `dispatch`, on which its
 * `request` is built: without a stream and an AbortSignal for each answer, a process sends a quarter more requests a second
 * (test/bench/README.md).
 */
function createExchange() {
  let controller: Dispatcher.DispatchController | undefined;
  let abortedFor: Error | undefined;
  return {
    /** A request that waits for its connection ends when it has one. */
    abort: (reason: Error) => {
      abortedFor ??= reason;
      controller?.abort(reason);
    },
    start: (dispatch: (handler: Dispatcher.DispatchHandler) => void) =>
      new Promise<Response>((resolve, reject) => {
        let [status, headers]: [number, Response['headers']] = [0, {}];
        const chunks: Buffer[] = [];
        dispatch({
          onRequestStart: (started) => {
            controller = started;
            if (abortedFor !== undefined) started.abort(abortedFor);
          },
          onResponseStart: (_, ...head) => {
            [status, headers] = head;
          },
          onResponseData: (_, chunk) => void chunks.push(chunk),
          onResponseEnd: () => resolve({ kind: 'response', status, headers, body: Buffer.concat(chunks) }),
          onResponseError: (_, error) => reject(error),
        });
      }),
  };
}

/** A description with the code, or the code alone if it is clear. */
function wordReason(code: string, hasStood: boolean, { connectSeconds, answerSeconds }: Timeouts): string {
  const closed = `the connection was closed ${hasStood ? 'before the answer' : 'while it was made'}`;
  const words: Readonly<Record<string, string>> = {
    UND_ERR_CONNECT_TIMEOUT: `no connection within ${connectSeconds} s`,
    UND_ERR_HEADERS_TIMEOUT: `no answer within ${answerSeconds} s`,
    UND_ERR_BODY_TIMEOUT: `the answer stopped for ${answerSeconds} s`,
    TimeoutError: `no complete answer within ${Number((connectSeconds + 2 * answerSeconds).toFixed(1))} s`,
    ECONNRESET: closed,
    EPIPE: closed,
    UND_ERR_SOCKET: closed,
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
    UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
    UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is too long',
    ENOTFOUND: 'its host name is unknown',
    EAI_AGAIN: 'its host name cannot be looked up',
    [OF_ANOTHER_HOST]: 'its certificate is for another host',
  };
  if (code === EARLY_ANSWER) return 'an answer came before the request was sent whole';
  const ofTls = NO_TLS.test(code) ? 'no secure connection can be made' : undefined;
  if (NO_HTTP.test(code)) return `the answer is no HTTP (${code})`;
  const word = words[code] ?? (UNTRUSTED.test(code) ? 'its certificate is not trusted' : ofTls);
  return word === undefined ? code : `${word} (${code})`;
}

/** Failures before a byte could leave. Measured on undici 7.30, Node 20; see test/service/transport.test.ts. */
const NOT_SENT = new Set([
  'ERR_INVALID_URL',
  'UND_ERR_INVALID_ARG',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Not sent if connecting failed; on an established connection the same error may come after the request. */
const CONNECT_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
  'EMFILE',
]);
const TLS_REFUSED = /^(ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
const NO_HTTP = /^(HPE_\w+|HTTPParserError)$/;
/** The other end speaks no TLS, or another one. */
const NO_TLS = /^(ERR_SSL_|EPROTO$)/;
const UNTRUSTED = /^(ERR_TLS_CERT_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Only what is certain counts as not sent; all else may have been processed. */
export function readFailure(error: unknown): TransportFailure {
  const code = textOf(error, 'code') ?? textOf(error, 'name') ?? 'unknown';
  const isConnecting = textOf(error, 'syscall') === 'connect' || code.startsWith('EAI_');
  const causes = error instanceof AggregateError ? error.errors : [];
  const isNotSent =
    NOT_SENT.has(code) ||
    TLS_REFUSED.test(code) ||
    (isConnecting && CONNECT_FAILURES.has(code)) ||
    (causes.length > 0 && causes.every((cause) => !readFailure(cause).mayHaveBeenProcessed));
  return { kind: 'failure', mayHaveBeenProcessed: !isNotSent, reason: code, fault: faultOf(code) };
}

/** What is at fault where a person can do something about it. */
function faultOf(code: string): StopFault | undefined {
  if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) return 'certificate-time';
  if (code === OF_ANOTHER_HOST || NO_TLS.test(code)) return 'secure-connection';
  if (UNTRUSTED.test(code)) return 'certificate-authority';
  return NOWHERE.has(code) ? 'unreachable' : undefined;
}

const NOWHERE: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

function textOf(error: unknown, key: string): string | undefined {
  const value = typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
