import type { Area } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import type { ServiceAddresses } from '../job/job.js';
import type { Response } from './answer.js';

/**
 * One endpoint of the service as a value: how a call to it looks on the wire, what its answer means, and whether it may
 * be repeated. Pure; caller.ts sends it, and the kinds of steps build on the same functions.
 */
export interface Endpoint<Input, Output> {
  /** Completes "Cannot …", such as "create a verification session". */
  readonly name: string;
  readonly area: Area;
  /** After an unknown outcome: the service makes it safe to send the same call again (a read, an upsert). */
  isRepeatable(input: Input): boolean;
  /** What the call costs of limits in messages and SMS parts; absent where it has none. */
  cost?(input: Input): { readonly messages: number; readonly segments: number };
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
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Origin and path prefix, without a trailing slash. */
  readonly base: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** Names in lower case; content-type only where there is a body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** A POST (or `method`) of a body that is JSON text already. */
export function jsonRequest(
  address: { base: string; path: string; method?: 'POST' | 'PUT' | 'PATCH'; accept?: string },
  body: Buffer,
): WireRequest {
  const { base, path, method = 'POST', accept = 'application/json' } = address;
  return { method, base, path, headers: { accept, 'content-type': 'application/json' }, body };
}

export function getRequest(address: { base: string; path: string }): WireRequest {
  return { method: 'GET', ...address, headers: { accept: 'application/json' }, body: undefined };
}

/** The bytes of a body; undefined members are omitted. */
export function encodeJson(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

/** Ids allowed in a path: `..` survives encoding, so check before encoding. */
export const PATH_ID = /^(?!\.{1,2}$)[\w.~:=+@-]{1,200}$/;

/** The id as a part of a path; refuses an invalid one with UserError 'bad-input'. `what` names it: "a session id". */
export function encodePathId(id: string, what: string): string {
  if (!PATH_ID.test(id)) {
    throw new UserError('bad-input', `Cannot form an address: ${JSON.stringify(id.slice(0, 60))} is not ${what}`, {
      hint: 'Copy it from the service: letters, digits and . _ ~ : = + @ - without spaces.',
    });
  }
  return encodeURIComponent(id);
}
