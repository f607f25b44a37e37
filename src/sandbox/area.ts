import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../ports/clock.js';
import type { AreaName } from './area-name.js';
import type { Keyring } from './check-credentials.js';
import type { ChosenFault } from './faults/chosen.js';
import type { Distortion } from './faults/fault.js';
import type { HttpAnswer } from './http-answer.js';
import type { Ledger, LedgerState } from './ledger/ledger.js';
import type { Random } from './random.js';
import type { RateLimits } from './rate-limit.js';
import type { WebhookSender } from './webhook/sender.js';

/** One request to an area, its body parsed. */
export interface AreaCall {
  /** Number of the HTTP request, from 1. */
  readonly number: number;
  readonly url: string;
  readonly ip: string;
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** Faults that say which rows of this request the service refuses. */
  readonly rowFaults: readonly ChosenFault[];
}

/** What a distortion of a good answer may need besides the body. */
export interface Distortable {
  readonly body: unknown;
  /** The body of an earlier good answer of the same route; undefined when there was none. */
  readonly previousBody: unknown;
  /** Which of these recipients the fault is about: true at the places of those chosen. */
  readonly choose: (recipients: readonly string[]) => readonly boolean[];
  readonly random: Random;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: string;
  readonly takesBody: boolean;
  /** Credentials and rate, checked before the body. Undefined = proceed. */
  authorize(call: AreaCall): HttpAnswer | undefined;
  /** The numbers that a body is about, '' where a row has none: one for each row. */
  recipients(body: unknown): readonly string[];
  /** Processes the call. What it accepts is in the ledger when the promise resolves. */
  handle(call: AreaCall): Promise<HttpAnswer>;
  readonly distortions: Readonly<Partial<Record<Distortion, (answer: Distortable) => unknown>>>;
}

/** One area: its routes, and its state, which changes by what the ledger has and by nothing else. */
export interface SandboxArea extends LedgerState {
  readonly name: AreaName;
  readonly routes: readonly Route[];
  /** The body of an error, or of a status that a fault sets, in the area's own form; undefined = the default body. */
  bodyOfStatus?(status: number): unknown;
  /** Content type of its errors; defaults to application/json. */
  readonly errorType?: string;
  /** Adds this area's control routes under `/_sandbox`; bodies arrive as bytes. */
  addControl?(app: FastifyInstance): void;
}

/** What every area is made from; nothing of it is shared between sandboxes. */
export interface AreaDeps {
  readonly clock: Clock;
  /** A new UUID. */
  readonly newId: () => string;
  readonly keyring: Keyring;
  readonly ledger: Ledger;
  readonly rateLimits: RateLimits;
  readonly webhooks: WebhookSender;
}
