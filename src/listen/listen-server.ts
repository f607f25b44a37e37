import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { DeliveryAuth } from './delivery-auth.js';
import type { ListenCounts, TakeEvent } from './intake.js';
import type { ListenLimits } from './listen-limits.js';

/** Documented: the same for each delivery of an event. */
const EVENT_ID_HEADER = 'x-8x8-event-id';
const SIGNATURE_HEADER = 'x-8x8-signature';
const BODY_TYPE = 'application/json';
/** A refused body up to this is read and dropped; for a larger one the connection is not worth keeping. */
const DROPPED_BYTES = 64 * 1024;

export interface ListenServerDeps {
  readonly door: DeliveryAuth;
  readonly take: TakeEvent;
  readonly counts: ListenCounts;
  readonly limits: ListenLimits;
  /** `failed` answers 503 to everything, `closing` keeps no connection alive. */
  readonly state: () => 'open' | 'closing' | 'failed';
}

/**
 * Serves POST at the delivery paths and GET /healthz. A delivery is authenticated before its body is read, and
 * answered 200 once its event is durable, 400 or 413 for a bad body, 401 or 404 without the right secret, 503 when it
 * should be repeated. No answer echoes the request.
 */
export function createListenServer(deps: ListenServerDeps): FastifyInstance {
  const { door, take, counts, limits, state } = deps;
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleMs,
    keepAliveTimeout: limits.idleMs,
    forceCloseConnections: 'idle',
    http: { headersTimeout: limits.headersMs, connectionsCheckingInterval: limits.checkMs },
    // An address that cannot be decoded.
    frameworkErrors: (_, __, reply) => {
      counts.refused += 1;
      void answer(reply as FastifyReply, 404, 'not found');
    },
  });
  app.server.maxConnections = limits.connections;
  let bytesUnderWay = 0;

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(BODY_TYPE, { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    const refused = door(request.url, request.headers);
    const bytes = declaredBytes(request) ?? limits.bodyBytes;
    if (refused !== undefined) {
      counts.refused += 1;
      if (bytes > DROPPED_BYTES) reply.header('connection', 'close');
      return answer(reply, refused, refused === 401 ? 'the secret is missing or wrong' : 'not found');
    }
    if (state() === 'failed') return answer(reply, 503, 'events cannot be written');
    const held = Math.min(bytes, limits.bodyBytes);
    if (bytesUnderWay + held > limits.bytesUnderWay) {
      counts.busy += 1;
      if (bytes > DROPPED_BYTES) reply.header('connection', 'close');
      return answer(reply.header('retry-after', '1'), 503, 'too much is under way');
    }
    // The content type is ignored.
    request.headers['content-type'] = BODY_TYPE;
    bytesUnderWay += held;
    reply.raw.once('close', () => {
      bytesUnderWay -= held;
    });
  };

  app.post('/*', { onRequest: admit }, async (request, reply) => {
    const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
    const read = (name: string) => {
      const value = request.headers[name];
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    try {
      const taken = await take(body, { eventId: read(EVENT_ID_HEADER), signature: read(SIGNATURE_HEADER) });
      return taken === 'bad' ? answer(reply, 400, 'the body is not a JSON object') : answer(reply, 200, taken);
    } catch {
      return answer(reply, 503, 'events cannot be written');
    }
  });
  app.get('/healthz', async (_, reply) =>
    state() === 'failed' ? answer(reply, 503, 'failed') : answer(reply, 200, 'ok'),
  );

  // A kept-alive connection would delay the stop until it is idle.
  app.addHook('onSend', async (_, reply) => {
    if (state() !== 'open') reply.header('connection', 'close');
  });
  app.setNotFoundHandler((_, reply) => answer(reply, 404, 'not found'));
  app.setErrorHandler((error, _, reply) => {
    counts.bad += 1;
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    return isTooLarge
      ? answer(reply.header('connection', 'close'), 413, `the body has more than ${limits.bodyBytes} bytes`)
      : answer(reply, 400, 'the body was not read to its end');
  });
  return app;
}

/** Undefined for a body of unknown length. */
function declaredBytes({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  const bytes = Number(headers['content-length'] ?? 0);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

function answer(reply: FastifyReply, status: number, said: string): FastifyReply {
  return reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ status: said }));
}
