import type { z } from 'zod';
import type { Area } from '../domain/areas.js';
import type { Who } from './check-credentials.js';
import type { Distortion } from './faults/fault.js';
import type { ChosenFault } from './faults/fault-set.js';
import type { ErrorForm, RefusedRequest } from './http-answer.js';
import type { Fields } from './ledger/entry-head.js';
import type { Random } from './random.js';
import type { WebhookSender } from './webhook/sender.js';

/**
 * An area of the service is its routes, and a state that its accepted entries make. A route decides by the state and
 * changes nothing: what it accepts is written to the ledger first, and then applied, while the sandbox runs and again
 * at a restart. So what the disk refuses has changed nothing, and no two requests decide by one state.
 */
export interface SandboxArea {
  readonly name: Area;
  readonly routes: readonly Route[];
  /** Routes under `/_sandbox`, for people and tests: no key, no fault, any content type. */
  readonly control?: readonly Route[];
  /** How its errors look; like those of SMS where this is missing. */
  readonly errors?: ErrorForm;
  /** How many requests in any second for each name that `of` gives. */
  readonly rates?: readonly { readonly perSecond: number; readonly of: (request: RatedRequest) => string }[];
  /** The only place where its state changes; the ledger remembers what was cancelled. `at` is when the entry was accepted, ISO 8601. */
  apply(entry: Fields, at: string): void;
  /** What is still to be sent of a request's entries at a restart, when the whole ledger has been read. */
  resume?(entries: readonly Fields[]): Handled['posts'];
  /** Forgets everything that was accepted. */
  clear(): void;
}

export interface Route<Body = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: string;
  readonly who: Who;
  /** What the body must be; see body-schema.ts. Where it is missing, `handle` looks at the body itself. */
  readonly body: z.ZodType<Body> | undefined;
  /** The numbers that a body is about, '' where a row has none: one for each row. */
  recipients(body: unknown): readonly string[];
  /** Many rows, of which a fault may refuse some: `handle` does. Elsewhere it refuses the request. */
  readonly isBatch: boolean;
  readonly distortions: Readonly<Partial<Record<Distortion, (answer: Distortable) => unknown>>>;
  handle(call: AreaCall<Body>): Handled | RefusedRequest;
}

/** A request whose key and body are right. */
export interface AreaCall<Body = unknown> {
  /** Number of the HTTP request, from 1; 0 under `/_sandbox`. */
  readonly number: number;
  /** In ms since 1970. */
  readonly at: number;
  /** Without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Body;
  /** Faults that say which rows of a batch the service refuses. */
  readonly rowFaults: readonly ChosenFault[];
}

/** What comes of a request. */
export interface Handled {
  readonly status: number;
  /** Undefined where there is none. A function makes it once the ledger has the entries: that of a batch is large. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is accepted, all with the same fields. */
  readonly entries?: readonly Fields[];
  /** A batch whose messages are cancelled, as far as they are not due. */
  readonly cancels?: string;
  /** What leaves by itself, once the ledger has the entries and the state has changed. */
  readonly posts?: (webhooks: WebhookSender) => void;
}

export interface RatedRequest {
  readonly ip: string;
  readonly params: Readonly<Record<string, string>>;
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

/** A route in which everything but method, path, who and `handle` may be left out. */
export function defineRoute<Body = unknown>(
  route: Pick<Route<Body>, 'method' | 'path' | 'who' | 'handle'> & Partial<Route<Body>>,
): Route {
  const whole = { body: undefined, recipients: () => [], isBatch: false, distortions: {}, ...route };
  return whole as Route;
}

/** Good answers that are wrong: without their id; of another than was asked for, which `invented` makes of them. */
export function distortId(id: string, invented: Fields = { [id]: 'not-yours' }): Route['distortions'] {
  return {
    partial: ({ body }) => omit(body, id),
    foreign: ({ body, previousBody }) => {
      const previous = previousBody as Fields | undefined;
      return previous !== undefined && previous[id] !== (body as Fields)[id]
        ? previous
        : { ...(body as Fields), ...invented };
    },
  };
}

export function omit(body: unknown, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(body as Fields).filter(([name]) => !names.includes(name)));
}
