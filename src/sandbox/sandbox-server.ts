import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Clock } from '../ports/clock.js';
import type { AreaCall, Route, SandboxArea } from './area.js';
import type { AreaName } from './area-name.js';
import { type ChosenFault, chooseRows } from './faults/chosen.js';
import { answerOfFault, deliver } from './faults/deliver.js';
import { isDistortion, type SandboxFault } from './faults/fault.js';
import type { AppliedFaults, FaultSet } from './faults/fault-set.js';
import { answerError, answerJson, ERROR_CODE, type HttpAnswer } from './http-answer.js';
import type { RequestLog } from './request-log.js';

/** Room for 10,000 messages of ten parts each. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface SandboxServerDeps {
  readonly clock: Clock;
  readonly requests: RequestLog;
  readonly faults: FaultSet;
  /** Aborts delays when the sandbox closes. */
  readonly closing: AbortSignal;
}

/**
 * A request is served in this order: log it, parse the body, choose its faults, delay, fault before processing,
 * authorize, refuse a bad body, process, fault after processing. The first answer found is the answer.
 */
export function createSandboxServer(areas: readonly SandboxArea[], deps: SandboxServerDeps): FastifyInstance {
  const { clock, requests } = deps;
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    frameworkErrors: (_, __, reply) =>
      void sendAnswer(reply as FastifyReply, answerError(400, BAD_ADDRESS, clock.now())),
  });
  const areaOfPath = new Map<string, AreaName>();
  const numbers = new WeakMap<object, number>();

  app.removeAllContentTypeParsers();
  // The area checks type and text, with the service's own errors.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  app.addHook('onRequest', async (request) => {
    const path = request.url.split('?', 1)[0] ?? request.url;
    if (path.startsWith('/_sandbox') || path === '/metrics') return;
    const area = areaOfPath.get(request.routeOptions.url ?? '') ?? null;
    const origin = { area, method: request.method, path };
    numbers.set(request, requests.begin(origin, clock.now(), clock.monotonicMs()));
  });
  app.addHook('onSend', async (request, reply) => {
    const number = numbers.get(request);
    if (number !== undefined) requests.finish(number, { status: reply.statusCode });
  });

  for (const area of areas) {
    for (const route of area.routes) {
      areaOfPath.set(route.path, area.name);
      const serve = createService(area, route, deps);
      app.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => serve(request, reply, numbers.get(request) ?? 0),
      });
    }
  }

  app.setNotFoundHandler((_, reply) => sendAnswer(reply, answerError(404, NOT_FOUND, clock.now())));
  app.setErrorHandler((error, _, reply) => sendAnswer(reply, answerThrown(error, clock.now())));
  return app;
}

type Serve = (request: FastifyRequest, reply: FastifyReply, number: number) => Promise<void>;

function createService(
  area: SandboxArea,
  route: Route,
  { clock, requests, faults, closing }: SandboxServerDeps,
): Serve {
  let lastGoodBody: unknown;

  const answerFault = (fault: SandboxFault, url: string): HttpAnswer =>
    answerOfFault(fault, { url, now: clock.now(), bodyOfStatus: area.bodyOfStatus, errorType: area.errorType });

  const process = async (request: FastifyRequest, parsed: ParsedBody, about: AboutCall): Promise<HttpAnswer> => {
    const call: AreaCall = {
      ...about,
      url: request.url,
      ip: request.ip,
      headers: request.headers,
      params: request.params as Record<string, string>,
      query: request.query as Record<string, unknown>,
      body: parsed.body,
    };
    const refused = route.authorize(call);
    if (refused !== undefined) return refused;
    if (route.takesBody && parsed.fault !== undefined) {
      return answerError(400, { code: ERROR_CODE.invalidParameter, message: parsed.fault }, clock.now());
    }
    return route.handle(call);
  };

  const afflict = (answer: HttpAnswer, after: ChosenFault | undefined, url: string): HttpAnswer => {
    const previousBody = lastGoodBody;
    const isGood = answer.status < 300;
    if (isGood) lastGoodBody = answer.body;
    if (after === undefined) return answer;
    const { kind } = after.fault;
    if (kind === 'status-after') return answerFault(after.fault, url);
    const distort = isDistortion(kind) && isGood ? route.distortions[kind] : undefined;
    if (distort === undefined) return answer;
    const choose = (recipients: readonly string[]) => chooseRows(after, recipients);
    return answerJson(
      answer.status,
      distort({ body: answer.body, previousBody, choose, random: after.random }),
      kind === 'partial' ? {} : answer.headers,
    );
  };

  return async (request, reply, number) => {
    const parsed = parseBody(request);
    const recipients = route.recipients(parsed.body);
    const applied = faults.choose(area.name, route, recipients);
    requests.finish(number, { messages: recipients.length, ...faultName(applied) });
    if (applied.delayMs > 0) await clock.sleep(applied.delayMs, closing);
    if (closing.aborted) {
      // The ledger is about to close: unprocessed requests are dropped with their connections.
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    const { before, after } = applied;
    const answer =
      before === undefined
        ? afflict(await process(request, parsed, { number, rowFaults: applied.rows }), after, request.url)
        : answerFault(before.fault, request.url);
    const status = await deliver(reply, answer, (before ?? after)?.fault);
    requests.finish(number, { status });
  };
}

type AboutCall = Pick<AreaCall, 'number' | 'rowFaults'>;

interface ParsedBody {
  readonly body: unknown;
  readonly fault: string | undefined;
}

function parseBody(request: FastifyRequest): ParsedBody {
  const { body, headers } = request;
  if (!(body instanceof Buffer) || body.length === 0) return { body: undefined, fault: 'Request body is missing' };
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    return { body: undefined, fault: 'Content-Type must be application/json' };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { body: JSON.parse(text), fault: undefined };
  } catch {
    return { body: undefined, fault: 'Request body is not valid JSON' };
  }
}

function faultName({ before, after, rows, delayMs }: AppliedFaults): { fault?: string } {
  const kind = (before ?? after ?? rows[0])?.fault.kind ?? (delayMs > 0 ? 'latency' : undefined);
  return kind === undefined ? {} : { fault: kind };
}

const NOT_FOUND = { code: ERROR_CODE.notFound, message: 'Not found' };
const BAD_ADDRESS = { code: ERROR_CODE.invalidParameter, message: 'Invalid request address' };

function sendAnswer(reply: FastifyReply, { status, headers, body }: HttpAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(JSON.stringify(body));
}

function answerThrown(error: unknown, now: number): HttpAnswer {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return answerError(413, { code: ERROR_CODE.bulkLimit, message: 'Request body is too large' }, now);
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_CTP')) {
    return answerError(400, { code: ERROR_CODE.invalidParameter, message: 'Invalid request body' }, now);
  }
  return answerError(500, { code: ERROR_CODE.internal, message: 'Internal server error' }, now);
}
