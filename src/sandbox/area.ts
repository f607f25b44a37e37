import { z } from 'zod';
import type { Area } from '../domain/areas.js';
import { isObject } from '../domain/is-object.js';
import type { Who } from './admission.js';
import type { RowFault } from './fault.js';
import { ERROR_CODE, type ErrorCode, type ErrorForm, INVALID_MSISDN, type RefusedRequest } from './http-answer.js';
import type { WebhookSender } from './webhook-sender.js';

export type Fields = Readonly<Record<string, unknown>>;

/** An entry of an area: what a row says, and a head. */
export type AreaEntry<A extends Area, Row> = Row & {
  readonly area: A;
  /** Place in the ledger, from 1, without gaps. */
  readonly seq: number;
  /** When it was accepted, ISO 8601. */
  readonly at: string;
  /** Number of the HTTP request; 0 for what came without one, such as what an agent did. */
  readonly request: number;
};

/**
 * An area of the service is its routes, and a state that its accepted entries make. A route decides by the state and
 * changes nothing: what it accepts is written to the ledger first, and then applied, while the sandbox runs and again
 * at a restart. So what the disk refuses has changed nothing, and no two requests decide by one state. (`never`: each
 * area takes entries of its own.)
 */
export interface SandboxArea {
  readonly name: Area;
  /** Its routes; those under `/_sandbox` are for people and tests: no key, no fault, any content type. */
  readonly routes: readonly Route[];
  /** How its errors look; like those of SMS where this is missing. */
  readonly errors?: ErrorForm;
  /** How many requests in any second for each name that `of` gives. */
  readonly rates?: readonly { readonly perSecond: number; of(ip: string, params: AreaCall['params']): string }[];
  /** The only place where the state changes. `at` is when the entry or note was accepted, ISO 8601. */
  apply(entry: never, at: string): void;
  /** An entry with what came of it since, as the ledger shows it. */
  show?(entry: never): object;
  /** Forgets everything that was accepted. */
  clear(): void;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path of the route, with `:name` for parameters. */
  readonly path: string;
  readonly who: Who;
  /** Gives a body as `handle` takes it, or says why it is refused. Where it is missing, `handle` looks at the body itself. */
  readonly check: ((body: unknown) => { readonly body: unknown } | RefusedRequest) | undefined;
  /** The numbers that a body is about, '' where a row has none: one for each row. */
  recipients(body: unknown): readonly string[];
  /** Many rows, of which a fault may refuse some: `handle` does. Elsewhere it refuses the request. */
  readonly isBatch: boolean;
  handle(call: AreaCall): Handled | RefusedRequest;
}

/** A request whose key and body are right. */
export interface AreaCall<Body = unknown> {
  /** Number of the HTTP request, from 1; 0 under `/_sandbox`. */
  readonly number: number;
  /** When it arrived, in ms since 1970. */
  readonly at: number;
  /** The path that was asked for, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Fields;
  readonly body: Body;
  /** Faults that say which rows of a batch the service refuses. */
  readonly rowFaults: readonly RowFault[];
}

/** What comes of a request. */
export interface Handled {
  readonly status: number;
  /** The body of the answer, if it has one. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is accepted, all with the same fields. */
  readonly entries?: readonly object[];
  /** What is written and applied as entries are, and is none: that a batch is cancelled. */
  readonly note?: object;
  /** What leaves by itself, once the ledger has the entries and the state has changed. */
  readonly posts?: (webhooks: WebhookSender) => void;
}

/** How a route is called, and its path: `PATCH /x/:name`. */
export type Address = `${Route['method']} /${string}`;

/** What a route has beside its address; all but `handle` may be left out, which takes what the schema of the body gives. */
export interface WrittenRoute<Schema extends z.ZodType, Given extends readonly unknown[] = []>
  extends Partial<Pick<Route, 'recipients' | 'isBatch'>> {
  readonly schema?: Schema;
  readonly codes?: Codes;
  handle(...given: [...Given, call: AreaCall<z.output<Schema>>]): Handled | RefusedRequest;
}

export function defineRoute<Schema extends z.ZodType>(
  address: Address,
  who: Who,
  written: WrittenRoute<Schema>,
): Route {
  const { schema, codes, ...route } = written;
  const [method, path] = address.split(' ');
  const check = schema && checkedBy(schema, codes);
  return { method, path, who, check, recipients: () => [], isBatch: false, ...route } as Route;
}

/**
 * Codes of places in a body that have one of their own, such as `sms.source`, or one for too much, such as `clientBatchId too_big`. '' is
 * the body itself; the places of lists are left out.
 */
export type Codes = Readonly<Record<string, ErrorCode>>;

/** Gives the body as the schema makes it, or says why it is refused: by its first issue, so fields stand in the order in which the service checks them. */
function checkedBy<Schema extends z.ZodType>(schema: Schema, codes: Codes = {}) {
  return (body: unknown): { body: z.output<Schema> } | RefusedRequest => {
    const checked = schema.safeParse(body);
    if (checked.success) return { body: checked.data };
    const [issue] = checked.error.issues;
    const place = issue?.path.join('.') ?? '';
    const field = issue?.path.filter((part) => typeof part !== 'number').join('.') ?? '';
    const isOutOfRange = (issue?.code === 'too_small' || issue?.code === 'too_big') && issue.origin === 'number';
    const code = codes[`${field} ${issue?.code}`] ?? codes[field] ?? (isOutOfRange ? ERROR_CODE.outOfRange : undefined);
    return { status: 400, code, message: place === '' ? issue?.message : `${place}: ${issue?.message}` };
  };
}

/** A text of one character at least. */
export const someText = z.string().min(1);

/** An absolute address of the web. */
export const absoluteUrl = z
  .string()
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'expected an absolute http or https address');

export const country = z.string().regex(/^[A-Za-z]{2}$/, 'expected a two-letter country code');

export const ENCODINGS = ['AUTO', 'GSM7', 'UCS2'] as const;

const MSISDN = /^\+?[1-9][0-9]{6,14}$/;

export const msisdn = z.string(INVALID_MSISDN).regex(MSISDN, INVALID_MSISDN);

export function isMsisdn(value: unknown): boolean {
  return typeof value === 'string' && MSISDN.test(value);
}

/** Finds the number at a place of a body, by which a fault can choose; '' where there is none. */
export function numberAt(...place: readonly string[]) {
  return (body: unknown): readonly string[] => {
    const found = place.reduce((value, key) => (isObject(value) ? value[key] : undefined), body);
    return [typeof found === 'string' ? found : ''];
  };
}

const NUMERIC = /^\+?\d+$/;

/** Above 11 characters, or 16 of a number: limits of the service's documentation. */
export function isTooLongSource(source: string): boolean {
  return source.length > (NUMERIC.test(source) ? 16 : 11);
}
