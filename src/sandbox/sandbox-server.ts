import type { IncomingHttpHeaders } from 'node:http';
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
import { isOnThisMachine } from './webhook/own-machine.js';

/** Room for 10,000 messages of ten parts each. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface SandboxServerDeps {
  readonly clock: Clock;
  readonly requests: RequestLog;
  readonly faults: FaultSet;
  /** Aborts delays when the sandbox closes. */
  readonly closing: AbortSignal;
  /** That it listens on. */
  readonly host: string;
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
    frameworkErrors: (_, request, reply) => void sendError(request, reply as FastifyReply, 400),
  });
  const sendError = ({ url }: Pick<FastifyRequest, 'url'>, reply: FastifyReply, status: keyof typeof ERRORS) =>
    sendAnswer(reply, answerOwn(findArea(areas, pathOf(url)), status, clock.now()));
  const isForeign = createForeignCheck(deps.host);
  const areaOfPath = new Map<string, AreaName>();
  const numbers = new WeakMap<object, number>();

  app.removeAllContentTypeParsers();
  // The area checks type and text, with the service's own errors.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request.url);
    // Of a path in percent encoding the route says what it is.
    const { url: route = path } = request.routeOptions;
    if (route.startsWith('/_sandbox') || route === '/metrics') {
      return isForeign(request.headers) ? sendAnswer(reply, answerError(404, FOREIGN, clock.now())) : undefined;
    }
    const area = areaOfPath.get(route) ?? null;
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

  app.setNotFoundHandler((request, reply) => sendError(request, reply, 404));
  app.setErrorHandler((error, request, reply) => sendError(request, reply, statusOfThrown(error)));
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

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

/** What no route of an area answers. */
const ERRORS = {
  400: { code: ERROR_CODE.invalidParameter, message: 'Invalid request' },
  404: { code: ERROR_CODE.notFound, message: 'Not found' },
  413: { code: ERROR_CODE.bulkLimit, message: 'Request body is too large' },
  500: { code: ERROR_CODE.internal, message: 'Internal server error' },
} as const;

/** An error in the area's own form. */
function answerOwn(area: SandboxArea | undefined, status: keyof typeof ERRORS, now: number): HttpAnswer {
  const body = area?.bodyOfStatus?.(status);
  if (body === undefined) return answerError(status, ERRORS[status], now);
  return answerJson(status, body, area?.errorType === undefined ? {} : { 'content-type': area.errorType });
}

/** Whose path it would be: that of the area that has most of its first segments. */
function findArea(areas: readonly SandboxArea[], path: string): SandboxArea | undefined {
  const segments = path.split('/');
  const shared = (route: Route) => {
    const others = route.path.split('/');
    const end = segments.findIndex((segment, at) => segment !== others[at]);
    return end === -1 ? segments.length : end;
  };
  const sharedOf = (area: SandboxArea) => Math.max(...area.routes.map(shared));
  return areas.reduce((best, area) => (sharedOf(area) > sharedOf(best) ? area : best), areas[0] as SandboxArea);
}

const FOREIGN = {
  code: ERROR_CODE.notFound,
  message: 'Not found: the sandbox answers here neither web pages nor requests to a name that is not of this machine',
};

/**
 * A web page that is open on this machine reaches loopback: it is known by its Origin, or by the name that led it here.
 * Where the sandbox listens elsewhere, it has names that it does not know.
 */
function createForeignCheck(listensOn: string): (headers: IncomingHttpHeaders) => boolean {
  const isLocal = isOnThisMachine(`http://${listensOn.includes(':') ? `[${listensOn}]` : listensOn}`);
  return ({ origin, host }) => origin !== undefined || (isLocal && !isOnThisMachine(`http://${host}`));
}

function sendAnswer(reply: FastifyReply, { status, headers, body }: HttpAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(JSON.stringify(body));
}

function statusOfThrown(error: unknown): keyof typeof ERRORS {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 413;
  return typeof code === 'string' && code.startsWith('FST_ERR_CTP') ? 400 : 500;
}
