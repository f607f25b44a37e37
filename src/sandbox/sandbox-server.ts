import type { IncomingHttpHeaders } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Area } from '../domain/areas.js';
import type { Clock } from '../ports/clock.js';
import type { AreaCall, RatedRequest, Route, SandboxArea } from './area.js';
import { checkBody } from './body-schema.js';
import type { Keyring } from './check-credentials.js';
import { answerOfFault, deliver } from './faults/deliver.js';
import { isDistortion, type SandboxFault } from './faults/fault.js';
import type { AppliedFaults, FaultSet } from './faults/fault-set.js';
import { type ChosenFault, chooseRows, findRowFault } from './faults/fault-set.js';
import {
  answerError,
  answerJson,
  answerRefused,
  ERROR_CODE,
  type ErrorForm,
  type HttpAnswer,
  type RefusedRequest,
} from './http-answer.js';
import type { Ledger } from './ledger/ledger.js';
import { createRateCounter } from './rate-limit.js';
import type { RequestLog } from './request-log.js';
import { isOnThisMachine } from './webhook/own-machine.js';
import type { WebhookSender } from './webhook/sender.js';

/** Room for 10,000 messages of ten parts each. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** What a sandbox is made of. */
export interface SandboxParts {
  readonly areas: readonly SandboxArea[];
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly ledger: Ledger;
  readonly requests: RequestLog;
  readonly faults: FaultSet;
  readonly webhooks: WebhookSender;
  /** Aborts delays when the sandbox closes. */
  readonly closing: AbortSignal;
  /** That it listens on. */
  readonly host: string;
}

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
  const sendError = ({ url }: Pick<FastifyRequest, 'url'>, reply: FastifyReply, status: number) =>
    sendAnswer(reply, answerRefused({ status, message: undefined }, findArea(areas, pathOf(url))?.errors, clock.now()));
  const isForeign = createForeignCheck(parts.host);
  const areaOfPath = new Map<string, Area>();
  const numbers = new WeakMap<object, number>();

  app.removeAllContentTypeParsers();
  // The area checks type and text, with the service's own errors.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request.url);
    // Of a path in percent encoding the route says what it is.
    const { url: route = path } = request.routeOptions;
    if (route.startsWith('/_sandbox')) {
      return isForeign(request.headers) ? sendAnswer(reply, answerError(404, FOREIGN, clock.now())) : undefined;
    }
    const area = areaOfPath.get(route) ?? null;
    const at = new Date(clock.now()).toISOString();
    numbers.set(request, requests.begin({ at, atMs: clock.monotonicMs(), area, method: request.method, path }));
  });
  app.addHook('onSend', async (request, reply) => {
    const number = numbers.get(request);
    if (number !== undefined) requests.finish(number, { status: reply.statusCode });
  });

  for (const area of areas) {
    const isWithinRates = createRateCheck(area, clock);
    for (const route of area.routes) {
      areaOfPath.set(route.path, area.name);
      const serve = createService(area, route, isWithinRates, parts);
      app.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => serve(request, reply, numbers.get(request) ?? 0),
      });
    }
    for (const route of area.control ?? []) {
      app.route({
        method: route.method,
        url: route.path,
        handler: async (request, reply) => {
          const call = toCall(request, 0, clock.now(), parseControlBody(request.body));
          return sendAnswer(reply, await processCall(area, route, undefined, call, parts));
        },
      });
    }
  }

  app.setNotFoundHandler((request, reply) => sendError(request, reply, 404));
  app.setErrorHandler((error, request, reply) => sendError(request, reply, statusOfThrown(error)));
  return app;
}

/** The body of a request under `/_sandbox`, which arrives as bytes whatever its content type; undefined when it is not JSON. */
export function parseControlBody(body: unknown): unknown {
  try {
    return JSON.parse(body instanceof Buffer ? body.toString() : '');
  } catch {
    return undefined;
  }
}

type Serve = (request: FastifyRequest, reply: FastifyReply, number: number) => Promise<void>;

function createService(
  area: SandboxArea,
  route: Route,
  isWithinRates: (request: RatedRequest) => boolean,
  parts: SandboxParts,
): Serve {
  const { clock, keyring, requests, faults, closing } = parts;
  const { errors } = area;
  let lastGoodBody: unknown;

  const answerFault = (fault: SandboxFault, url: string): HttpAnswer =>
    answerOfFault(fault, { url, now: clock.now(), form: errors });

  const process = async (
    request: FastifyRequest,
    number: number,
    { body, fault: bodyFault }: ParsedBody,
    applied: AppliedFaults,
  ): Promise<HttpAnswer> => {
    const at = clock.now();
    const call = toCall(request, number, at, body, applied);
    const refused = keyring(route.who, request.headers, call.params);
    if (refused !== undefined) return answerRefused(refused, errors, at);
    if (!isWithinRates({ ip: request.ip, params: call.params })) {
      const { status, body, headers } = answerRefused({ status: 429, message: undefined }, errors, at);
      return { status, body, headers: { ...headers, 'retry-after': '1' } };
    }
    // An area with errors of its own says itself that it wants an object.
    if (route.body !== undefined && bodyFault !== undefined && errors === undefined) {
      return answerRefused({ status: 400, message: bodyFault }, errors, at);
    }
    return processCall(area, route, errors, call, parts);
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
    const applied = faults.choose(area.name, route.distortions, recipients);
    requests.finish(number, { messages: recipients.length, fault: nameFault(applied) });
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
        ? afflict(await process(request, number, parsed, applied), after, request.url)
        : answerFault(before.fault, request.url);
    const status = await deliver(reply, answer, (before ?? after)?.fault);
    requests.finish(number, { status });
  };
}

function toCall(request: FastifyRequest, number: number, at: number, body: unknown, applied?: AppliedFaults): AreaCall {
  return {
    number,
    at,
    path: pathOf(request.url),
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    body,
    rowFaults: applied?.rows ?? [],
  };
}

/** Checks the body, decides, writes, applies, sends: one request after the other. */
async function processCall(
  area: SandboxArea,
  route: Route,
  errors: ErrorForm | undefined,
  call: AreaCall,
  { ledger, webhooks }: SandboxParts,
): Promise<HttpAnswer> {
  const { at, number: request } = call;
  const refuse = (refused: RefusedRequest) => answerRefused(refused, errors, at);
  const checked = route.body === undefined ? call : checkBody(route.body, call.body);
  if (!('body' in checked)) return refuse(checked);
  const [recipient] = route.isBatch ? [] : route.recipients(call.body);
  const fault = recipient === undefined ? undefined : findRowFault(call.rowFaults, recipient);
  if (fault?.kind === 'internal-rows') return refuse({ status: 500, message: undefined });
  if (fault !== undefined) {
    const code = errors === undefined ? ERROR_CODE.invalidMsisdn : undefined;
    return refuse({ status: 400, code, message: fault.description });
  }
  return ledger.accept({ at, area: area.name, request }, () => {
    const handled = route.handle({ ...call, body: checked.body });
    if ('message' in handled) return { answer: () => refuse(handled) };
    const { status, body, headers, entries = [], cancels, posts } = handled;
    const answer = () => {
      posts?.(webhooks);
      if (body === undefined) return { status, headers: {}, body };
      return answerJson(status, typeof body === 'function' ? body() : body, headers);
    };
    return { rows: entries, answer, ...(cancels === undefined ? {} : { cancels }) };
  });
}

/** Takes a request of the area; false when there were too many in the second before. */
function createRateCheck({ rates = [] }: SandboxArea, clock: Clock): (request: RatedRequest) => boolean {
  const counters = rates.map(({ perSecond, of }) => ({ counter: createRateCounter(perSecond), of }));
  return (request) => counters.every(({ counter, of }) => counter.take(of(request), clock.monotonicMs()));
}

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

function nameFault({ before, after, rows, delayMs }: AppliedFaults): string | null {
  return (before ?? after ?? rows[0])?.fault.kind ?? (delayMs > 0 ? 'latency' : null);
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
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

function statusOfThrown(error: unknown): number {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 413;
  return typeof code === 'string' && code.startsWith('FST_ERR_CTP') ? 400 : 500;
}
