import type { IncomingHttpHeaders } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Area } from '../domain/areas.js';
import { parseJson } from '../domain/is-object.js';
import { isOnThisMachine } from '../domain/loopback.js';
import type { Clock } from '../ports/clock.js';
import { createRateCounter, type Keyring } from './admission.js';
import type { AreaCall, Route, SandboxArea } from './area.js';
import { deliver, type FaultSet, findRowFault } from './fault.js';
import {
  answerJson,
  answerRefused,
  CODED_ERRORS,
  ERROR_CODE,
  type HttpAnswer,
  isRefused,
  type RefusedRequest,
} from './http-answer.js';
import type { Ledger } from './ledger.js';
import type { WebhookSender } from './webhook-sender.js';

/** Room for 10,000 messages of ten parts each. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** One HTTP request that arrived, whatever its outcome. */
export interface RequestEntry {
  readonly number: number;
  /** When its headers had arrived, ISO 8601. */
  readonly at: string;
  /** When they had arrived by a clock that never goes back, in milliseconds from the sandbox's start: for judging rates. */
  readonly atMs: number;
  /** Null for a path that belongs to no area. */
  readonly area: Area | null;
  readonly method: string;
  readonly path: string;
  /** Status of the answer that left; 0 when none left, or none yet. */
  status: number;
  /** How many messages (or contacts) the body carried. */
  messages: number;
  /** Kind of the applied fault; null when there was none. */
  fault: string | null;
}

/** What a sandbox is made of. */
export interface SandboxParts {
  readonly areas: readonly SandboxArea[];
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly ledger: Ledger;
  /** The requests in the order of arrival. */
  readonly requests: RequestEntry[];
  readonly faults: FaultSet;
  readonly webhooks: WebhookSender;
  /** Aborts delays when the sandbox closes. */
  readonly closing: AbortSignal;
  /** The address that it listens on. */
  readonly host: string;
}

type Serve = (request: FastifyRequest, reply: FastifyReply, entry: RequestEntry) => Promise<unknown>;

/**
 * A request is served in this order: log it, parse the body, choose its faults, delay, fault before processing, check
 * key and rate, refuse a bad body, decide by the area's state, write what is accepted to the ledger, apply it, send what
 * leaves by itself, fault after processing. The first answer found is the answer.
 */
export function createSandboxServer(parts: SandboxParts): FastifyInstance {
  const { areas, clock, requests } = parts;
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    frameworkErrors: (_, request, reply) => void sendError(request, reply as FastifyReply, 400),
  });
  // What no route answers has the form of the area that the path would be of.
  const sendError = ({ url }: Pick<FastifyRequest, 'url'>, reply: FastifyReply, status: number) => {
    const path = pathOf(url);
    const form = (isControl(path) ? undefined : findArea(areas, path)?.errors) ?? CODED_ERRORS;
    return sendAnswer(reply, answerRefused({ status }, form, clock.now()));
  };
  const isForeign = createForeignCheck(parts.host);
  const areaOfPath = new Map<string, Area>();
  const entryOf = new WeakMap<object, RequestEntry>();
  let number = parts.ledger.lastRequest;

  app.removeAllContentTypeParsers();
  // The area checks type and text, with the service's own errors.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request.url);
    // The route says what a path in percent encoding is.
    const { url: route = path } = request.routeOptions;
    if (isControl(route)) {
      return isForeign(request.headers)
        ? sendAnswer(reply, answerRefused(FOREIGN, CODED_ERRORS, clock.now()))
        : undefined;
    }
    const area = areaOfPath.get(route) ?? null;
    const at = new Date(clock.now()).toISOString();
    number += 1;
    const begun = { number, at, atMs: clock.monotonicMs(), area, method: request.method, path };
    const entry = { ...begun, status: 0, messages: 0, fault: null };
    entryOf.set(request, entry);
    requests.push(entry);
  });
  app.addHook('onSend', async (request, reply) => {
    const entry = entryOf.get(request);
    if (entry !== undefined) entry.status = reply.statusCode;
  });

  for (const area of areas) {
    const isWithinRates = createRateCheck(area, clock);
    for (const route of area.routes) {
      const serve = isControl(route.path)
        ? serveControl(area, route, parts)
        : serveRoute(area, route, isWithinRates, parts);
      if (!isControl(route.path)) areaOfPath.set(route.path, area.name);
      app.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => serve(request, reply, entryOf.get(request) as RequestEntry),
      });
    }
  }

  app.setNotFoundHandler((request, reply) => sendError(request, reply, 404));
  app.setErrorHandler((error, request, reply) => sendError(request, reply, statusOfThrown(error)));
  return app;
}

function isControl(path: string): boolean {
  return path.startsWith('/_sandbox');
}

/** The body of a request under `/_sandbox`, which arrives as bytes whatever its content type; undefined when it is not JSON. */
export function parseControlBody(body: unknown): unknown {
  return body instanceof Buffer ? parseJson(body.toString()) : undefined;
}

function serveControl(area: SandboxArea, route: Route, { ledger, clock }: SandboxParts): Serve {
  const ofControl = { ...area, errors: CODED_ERRORS };
  return async (request, reply) => {
    const call = toCall(request, { number: 0, at: clock.now(), body: parseControlBody(request.body), rowFaults: [] });
    return sendAnswer(reply, await process(ofControl, route, call, ledger));
  };
}

function serveRoute(
  area: SandboxArea,
  route: Route,
  isWithinRates: (request: FastifyRequest, call: AreaCall) => boolean,
  { clock, keyring, ledger, faults, closing }: SandboxParts,
): Serve {
  const { errors = CODED_ERRORS } = area;

  const admit = async (request: FastifyRequest, call: AreaCall, bodyFault: string | undefined): Promise<HttpAnswer> => {
    const refused = keyring(route.who, request.headers, call.params);
    if (refused !== undefined) return answerRefused(refused, errors, call.at);
    if (isWithinRates(request, call)) return process(area, route, call, ledger, bodyFault);
    return answerRefused({ status: 429 }, errors, call.at, { 'retry-after': '1' });
  };

  return async (request, reply, entry) => {
    const { body, fault: bodyFault } = parseBody(request);
    const recipients = route.recipients(body);
    const { decisive, isBefore, rows, delayMs } = faults.choose(area.name, recipients);
    entry.messages = recipients.length;
    entry.fault = decisive?.kind ?? rows[0]?.fault.kind ?? (delayMs > 0 ? 'latency' : null);
    if (delayMs > 0) await clock.sleep(delayMs, closing);
    if (closing.aborted) {
      // The ledger is about to close: unprocessed requests are dropped with their connections.
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    const call = toCall(request, { number: entry.number, at: clock.now(), body, rowFaults: rows });
    const processed = isBefore ? undefined : await admit(request, call, bodyFault);
    await deliver(reply, processed, decisive, errors, clock.now());
    if (reply.raw.headersSent) entry.status = reply.raw.statusCode;
  };
}

function toCall(request: FastifyRequest, given: Pick<AreaCall, 'number' | 'at' | 'body' | 'rowFaults'>): AreaCall {
  const { params, query } = request as Pick<AreaCall, 'params' | 'query'>;
  return { ...given, path: pathOf(request.url), params, query };
}

async function process(area: SandboxArea, route: Route, call: AreaCall, ledger: Ledger, bodyFault?: string) {
  const { name, errors = CODED_ERRORS } = area;
  const refuse = (refused: RefusedRequest) => answerRefused(refused, errors, call.at);
  const checked = route.check === undefined ? call : route.check(call.body);
  if (!('body' in checked)) return refuse({ ...checked, message: bodyFault ?? checked.message });
  const [recipient] = route.isBatch ? [] : route.recipients(call.body);
  const fault = recipient === undefined ? undefined : findRowFault(call.rowFaults, recipient);
  if (fault !== undefined) {
    const code = errors === CODED_ERRORS ? ERROR_CODE.invalidMsisdn : undefined;
    return refuse({ status: 400, code, message: fault.description });
  }
  const handle = () => route.handle({ ...call, body: checked.body });
  const handled = await ledger.accept(name, call.number, call.at, handle);
  if (isRefused(handled)) return refuse(handled);
  const { status, body, headers } = handled;
  return body === undefined ? { status, headers: {}, body } : answerJson(status, body, headers);
}

function createRateCheck({ rates = [] }: SandboxArea, clock: Clock) {
  const counters = rates.map(({ perSecond, of }) => ({ take: createRateCounter(perSecond), of }));
  return ({ ip }: FastifyRequest, { params }: AreaCall) =>
    counters.every(({ take, of }) => take(of(ip, params), clock.monotonicMs()));
}

function parseBody({ body, headers }: FastifyRequest): { body?: unknown; fault?: string } {
  if (!(body instanceof Buffer) || body.length === 0) return { fault: 'Request body is missing' };
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    return { fault: 'Content-Type must be application/json' };
  }
  try {
    return { body: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) };
  } catch {
    return { fault: 'Request body is not valid JSON' };
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

/** Finds the area that a path would be of: the one that has most of its first segments. */
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

const FOREIGN: RefusedRequest = {
  status: 404,
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

function statusOfThrown(error: unknown): number {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 413;
  return typeof code === 'string' && code.startsWith('FST_ERR_CTP') ? 400 : 500;
}
