import { UserError } from '../domain/errors.js';
import { type EndpointFacts, GATEWAY_ACCEPT, TENANT_HEADER } from '../domain/service-facts.js';
import type { ServiceAddresses } from '../job/job.js';
import type { Response } from './answer.js';

/**
 * One endpoint of the service as a value: how a call to it looks on the wire, what its answer means, and whether it may
 * be repeated. Pure; caller.ts sends it.
 */
export interface Endpoint<Input, Output> extends Pick<EndpointFacts, 'area' | 'name' | 'isRepeatable'> {
  request(service: ServiceAddresses, input: Input): WireRequest;
  /** Reads a 2xx answer. Undefined when it is incomplete: the outcome is then unknown. */
  read(response: Response, input: Input): Output | undefined;
}

/**
 * Calls an endpoint and returns its typed answer; any failure is a ServiceError, see `ServiceErrorCode`. A UserError
 * for an invalid input, and the error of a stopped lane, pass unchanged: nothing was sent, or nothing that must not be
 * repeated.
 */
export type CallService = <Input, Output>(endpoint: Endpoint<Input, Output>, input: Input) => Promise<Output>;

/** A call without its authentication. */
export interface WireRequest {
  readonly method: EndpointFacts['method'];
  /** Origin and path prefix, without a trailing slash. */
  readonly base: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** Names in lower case; content-type only where there is a body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

interface Variables {
  /** For `{…}` in the path; those of the account are known. */
  readonly ids?: Readonly<Record<string, string>>;
  /** Parameters of the query; undefined ones are omitted. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON text as it is, or an object, whose undefined members are omitted. */
  readonly body?: Buffer | object;
}

/** An endpoint: its facts, what a call adds to them, and the reader of a 2xx answer. */
export function defineEndpoint<Input, Output>(
  facts: EndpointFacts,
  write: (input: Input) => Variables,
  read: Endpoint<Input, Output>['read'],
): Endpoint<Input, Readonly<Output>> {
  return { ...facts, request: (service, input) => buildRequest(service, facts, write(input)), read };
}

/** What an endpoint answers with. */
export type OutputOf<E> = E extends Endpoint<never, infer Output> ? Output : never;

/** A call to an endpoint as it goes over the wire. Refuses an id that may not stand in a path with UserError 'bad-input'. */
export function buildRequest(
  service: ServiceAddresses,
  { area, method, path, name: call }: EndpointFacts,
  { ids = {}, query = {}, body }: Variables = {},
): WireRequest {
  const { account, accountId = account, subAccountId, tenant, bases } = service;
  const fill = (_: string, name: string) => {
    if (name === 'accountId') return encodeURIComponent(accountId);
    return name === 'subAccountId' ? encodeURIComponent(subAccountId) : encodePathId(ids[name], name);
  };
  const asked = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const forGateway = { accept: GATEWAY_ACCEPT, ...(tenant !== undefined && { [TENANT_HEADER]: tenant }) };
  const headers = { ...HEADERS, ...(area === 'gateway' ? forGateway : { accept: 'application/json' }) };
  return {
    method,
    base: bases[area],
    path: path.replace(/\{(\w+)\}/g, fill) + (asked.length === 0 ? '' : `?${asked.join('&')}`),
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    body: body === undefined || Buffer.isBuffer(body) ? body : writeBody(body, call),
  };
}

function writeBody(body: object, call: string): Buffer {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    throw new UserError('bad-input', `Cannot ${call}: it cannot be written as JSON: ${(error as Error).message}`);
  }
}

/** RFC 9110: who asks (10.1.5); and an answer may come compressed to one who does not say otherwise (12.5.3). */
const HEADERS = { 'user-agent': 'volley', 'accept-encoding': 'identity' };

/** Ids allowed in a path: `..` survives encoding, so check before encoding. */
export const PATH_ID = /^(?!\.{1,2}$)[\w.~:=+@-]{1,200}$/;

const NAMES: Readonly<Record<string, string>> = {
  sessionId: 'a session id',
  conversationId: 'a conversation id',
  batchId: 'the id of a batch',
};

function encodePathId(id: string | undefined, name: string): string {
  if (id !== undefined && PATH_ID.test(id)) return encodeURIComponent(id);
  throw new UserError(
    'bad-input',
    `Cannot form an address: ${JSON.stringify(String(id).slice(0, 60))} is not ${NAMES[name] ?? `a ${name}`}`,
    { hint: 'Copy it from the service: letters, digits and . _ ~ : = + @ - without spaces.' },
  );
}
