import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { AddressQuota, networkOf } from './address-quota.js';
import type { DeliveryAuth } from './delivery-auth.js';
import type { ListenCounts, TakeEvent } from './intake.js';
import { type ListenLimits, REQUEST_BYTES } from './listen-limits.js';
import { readBody } from './read-body.js';

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
 * should be repeated. No answer echoes the request. Connections and pending deliveries have limits, in total and of each
 * address; a body counts as its bytes arrive, not as they are announced.
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
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(BODY_TYPE, (_, body, done) => done(null, body));

  const connections = new AddressQuota(limits.connections);
  app.server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress);
    if (connections.hold(address, 1)) socket.once('close', () => connections.release(address, 1));
    else {
      counts.dropped += 1;
      socket.destroy();
    }
  });

  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    // Its answer has no connection yet: it was sent ahead of the answer to another. Those would gather without a limit.
    if (reply.raw.socket === null) {
      counts.dropped += 1;
      request.raw.destroy();
      return reply.hijack();
    }
    const refused = door(request.url, request.headers);
    if (refused !== undefined) {
      counts.refused += 1;
      if (!isSmall(request)) reply.header('connection', 'close');
      return answer(reply, refused, refused === 401 ? 'the secret is missing or wrong' : 'not found');
    }
    if (state() === 'failed') return answer(reply, 503, 'events cannot be written');
    // The content type is ignored.
    request.headers['content-type'] = BODY_TYPE;
  };

  const pending = new AddressQuota(limits.pendingBytes);
  const deliver = async (request: FastifyRequest, reply: FastifyReply, hold: (bytes: number) => boolean) => {
    const body = hold(REQUEST_BYTES) ? await readBody(request.raw, { hold, maxBytes: limits.bodyBytes }) : 'no-room';
    if (body === 'no-room') {
      counts.busy += 1;
      if (!isSmall(request)) reply.header('connection', 'close');
      return answer(reply.header('retry-after', '1'), 503, 'too much is under way');
    }
    if (body === 'too-large') {
      counts.bad += 1;
      reply.header('connection', 'close');
      return answer(reply, 413, `the body has more than ${limits.bodyBytes} bytes`);
    }
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
  };
  app.post('/*', { onRequest: admit }, async (request, reply) => {
    const address = networkOf(request.ip);
    let held = 0;
    const hold = (bytes: number) => {
      if (!pending.hold(address, bytes)) return false;
      held += bytes;
      return true;
    };
    try {
      return await deliver(request, reply, hold);
    } finally {
      pending.release(address, held);
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
  app.setErrorHandler((_, __, reply) => {
    counts.bad += 1;
    return answer(reply, 400, 'the body was not read to its end');
  });
  return app;
}

/** Whether an unread body may be read and dropped: its length is known and small. */
function isSmall({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= DROPPED_BYTES;
}

function answer(reply: FastifyReply, status: number, said: string): FastifyReply {
  return reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ status: said }));
}
