import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { countOf, format, listNonZero } from '../domain/count-of.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { EventHeaders } from './event-file.js';

const KIB = 1024;

export type ListenLimits = typeof LISTEN_LIMITS;

/**
 * With these the process takes at most 128 MiB more than at its start, beside 16 to 32 bytes for each event in its file.
 * The service repeats deliveries that were not answered 2xx.
 */
export const LISTEN_LIMITS = {
  /** The longest body. A gateway event or a receipt has about 1 KB. */
  bodyBytes: 128 * KIB,
  /** Pending deliveries, each as its body and `REQUEST_BYTES`: above it they are answered 503. */
  pendingBytes: 6144 * KIB,
  /** Open connections: above it new ones are closed at once. */
  connections: 1024,
  /** From the first byte of a request, or the start of the connection, to the last of its headers. */
  headersMs: 10_000,
  /** From the first byte of a request to the last of its body. */
  requestMs: 15_000,
  /** How long an idle connection stays open. */
  idleMs: 30_000,
  /** How often the first two are checked. */
  checkMs: 1000,
  /** How long a stop waits for pending requests. */
  drainMs: 10_000,
};

/** What a pending request takes beside its body: headers, and what Node keeps of it. */
export const REQUEST_BYTES = 4 * KIB;
/** A refused body up to this is read and dropped; for a larger one the connection is not worth keeping. */
const DROPPED_BYTES = 64 * KIB;

/** Takes one delivery, and resolves when its event is durable, now or since earlier. Rejects when the file cannot be written. */
export type TakeEvent = (body: Uint8Array, headers: EventHeaders) => Promise<'written' | 'duplicate' | 'bad'>;

type Answer = readonly [status: number, said: string, headers?: Readonly<Record<string, string>>];

const NOT_FOUND: Answer = [404, 'not found'];
const NOT_WRITTEN: Answer = [503, 'events cannot be written'];

/**
 * Serves POST at the delivery paths and GET /healthz. A delivery is authenticated before its body is read, and
 * answered 200 once its event is durable, 400 or 413 for a bad body, 401 or 404 without the right secret, 503 when it
 * should be repeated. No answer echoes the request. Connections and pending deliveries have limits; a body counts as its
 * bytes arrive, not as they are announced. `state`: `failed` answers 503 to everything, `closing` keeps no connection alive.
 */
export function createListenServer(
  secret: string | undefined,
  limits: ListenLimits,
  take: TakeEvent,
  { counts, state }: { counts: ListenCounts; state: () => 'open' | 'closing' | 'failed' },
): Server {
  const refusalOf = createDeliveryAuth(secret);
  let pendingBytes = 0;

  const deliver = async (request: IncomingMessage): Promise<Answer> => {
    let held = 0;
    const hold = (bytes: number) => {
      if (pendingBytes + bytes > limits.pendingBytes) return false;
      pendingBytes += bytes;
      held += bytes;
      return true;
    };
    try {
      const body = hold(REQUEST_BYTES) ? await readBody(request, limits.bodyBytes, hold) : 'no-room';
      if (body === 'no-room') {
        counts.busy += 1;
        return [503, 'too much is under way', { 'retry-after': '1' }];
      }
      if (!Buffer.isBuffer(body)) {
        counts.bad += 1;
        return body === 'too-large'
          ? [413, `the body has more than ${limits.bodyBytes} bytes`]
          : [400, 'the body was not read to its end'];
      }
      const read = (name: string) => String(request.headers[name] ?? '') || undefined;
      const taken = await take(body, { eventId: read('x-8x8-event-id'), signature: read('x-8x8-signature') });
      return taken === 'bad' ? [400, 'the body is not a JSON object'] : [200, taken];
    } catch {
      return NOT_WRITTEN;
    } finally {
      pendingBytes -= held;
    }
  };

  const serve = async (request: IncomingMessage): Promise<Answer> => {
    const { method, url = '/', headers } = request;
    if ((method === 'GET' || method === 'HEAD') && pathOf(url) === '/healthz') {
      return state() === 'failed' ? [503, 'failed'] : [200, 'ok'];
    }
    if (method !== 'POST') return NOT_FOUND;
    const refused = refusalOf(url, headers);
    if (refused !== undefined) {
      counts.refused += 1;
      return refused === 404 ? NOT_FOUND : [refused, 'the secret is missing or wrong'];
    }
    return state() === 'failed' ? NOT_WRITTEN : deliver(request);
  };

  const options = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
  };
  const server = createServer(options, async (request, response) => {
    // Its answer has no connection yet: it was sent ahead of the answer to another. Those would gather without a limit.
    if (response.socket === null) {
      counts.dropped += 1;
      request.destroy();
      return;
    }
    const [status, said, headers] = await serve(request);
    // A kept-alive connection would delay the stop until it is idle.
    const isKept = state() === 'open' && (request.readableEnded || isSmall(request));
    const text = JSON.stringify({ status: said });
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      ...headers,
      ...(isKept ? {} : { connection: 'close' }),
    });
    response.end(text);
  });
  server.setTimeout(limits.idleMs);
  server.maxConnections = limits.connections;
  server.on('drop', () => {
    counts.dropped += 1;
  });
  return server;
}

/** Whether an unread body may be read and dropped: its length is known and small. */
function isSmall({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= DROPPED_BYTES;
}

/**
 * Reads a body to its end. `hold` is asked before bytes are kept, and false refuses them. What comes behind a refusal is
 * dropped.
 */
function readBody(
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => boolean,
): Promise<Buffer | 'too-large' | 'no-room' | 'cut-off'> {
  let body: Buffer = Buffer.alloc(0);
  let bytes = 0;
  return new Promise((resolve) => {
    const refuse = (why: 'too-large' | 'no-room') => {
      body = Buffer.alloc(0);
      request.removeAllListeners('data').resume();
      resolve(why);
    };
    request.on('data', (piece: Buffer) => {
      if (bytes + piece.length > maxBytes) return refuse('too-large');
      if (!hold(piece.length)) return refuse('no-room');
      // Copied: a sender may cut a body into pieces of one byte, each of which takes hundreds.
      if (bytes + piece.length > body.length) body = Buffer.concat([body], 2 * (bytes + piece.length));
      bytes += piece.copy(body, bytes);
    });
    request.once('end', () => resolve(body.subarray(0, bytes)));
    request.once('close', () => resolve('cut-off'));
    // Starts at once: the stream would gather the pieces that are there until the next turn.
    request.read(0);
  });
}

const SECRET_HEADER = 'x-volley-secret';
export const HOOK = '/hook';

/**
 * Checks who may deliver; the function that it returns gives the HTTP status that refuses, or undefined. With a secret:
 * `/hook/<secret>`, percent-encoded where needed, or `/hook` with the secret in the header `x-volley-secret`. Without
 * one: `/`, but not from a web page, since any page open on this machine can reach loopback.
 */
function createDeliveryAuth(secret: string | undefined) {
  const expected = digest(secret ?? '');
  // Compare digests: they have equal length, and a partial match reveals nothing about the secret.
  const isSecret = (given: string) => timingSafeEqual(digest(given), expected);
  return (url: string, headers: IncomingHttpHeaders): 401 | 404 | undefined => {
    const path = pathOf(url);
    if (secret === undefined) return path === '/' && headers.origin === undefined ? undefined : 404;
    if (path === HOOK) {
      const given = headers[SECRET_HEADER];
      return typeof given === 'string' && isSecret(given) ? undefined : 401;
    }
    if (!path.startsWith(`${HOOK}/`)) return 404;
    return isSecret(decode(path.slice(HOOK.length + 1))) ? undefined : 404;
  };
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Counts of deliveries since the listener started. received = written + duplicates + pending or failed. */
export type ListenCounts = ReturnType<typeof createCounts>;

export function createCounts() {
  return {
    /** Deliveries with the right secret that hold a JSON object. */
    received: 0,
    written: 0,
    /** Deliveries of a known event; they are answered 2xx too. */
    duplicates: 0,
    /** Written events of unknown kind. */
    unknown: 0,
    /** Bodies that are not a JSON object, too large, or cut off. */
    bad: 0,
    /** Deliveries without the right secret. */
    refused: 0,
    /** Deliveries refused with 503 because too much was pending; the service repeats them. */
    busy: 0,
    /** Connections closed at once because too many were open, or because a request was sent ahead of an answer. */
    dropped: 0,
  };
}

const LOG_EVERY_MS = 5000;

/** Logs every five seconds how many events came, if any, and warns of refused ones; until `signal` aborts. Logs no content. */
export async function logCounts(
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
  { counts, path }: { readonly counts: Readonly<ListenCounts>; readonly path: string },
): Promise<void> {
  let said = { ...counts };
  while (!signal.aborted) {
    await clock.sleep(LOG_EVERY_MS, signal);
    const now = { ...counts };
    if (isDeepStrictEqual(now, said)) continue;
    const text = describeCounts(now);
    if (now.refused === said.refused) log.info(text, now);
    else log.warn(`${text}; what is refused was not posted to ${path}`, now);
    said = now;
  }
}

/** One line for a person. */
export function describeCounts(counts: ListenCounts): string {
  const { received, written, duplicates, unknown, bad, refused, busy, dropped } = counts;
  const more = listNonZero({
    repeated: duplicates,
    'of unknown kind': unknown,
    'with a bad body': bad,
    refused,
    'turned away': busy,
  });
  if (dropped > 0) more.push(`${countOf(dropped, 'connection')} dropped`);
  return [`${countOf(received, 'event')} received`, `${format(written)} written`, ...more].join(', ');
}
