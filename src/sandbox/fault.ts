import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { AREAS, type Area } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import { answerHtml, answerRefused, type ErrorForm, type HttpAnswer, INVALID_MSISDN } from './http-answer.js';
import { choosePlaces, createRandom, type Random } from './random.js';

/** Kinds of faults by when they happen; beside them stands `status-<code>`, any from 200 to 599, which is `before`. */
const KINDS = {
  /** Before anything else; adds to whatever follows. */
  delay: ['latency'],
  /** In the place of processing: nothing is accepted. */
  before: ['reset-before', 'stall'],
  /** While processing: some rows are refused. */
  rows: ['reject-rows', 'strict-numbers'],
  /** Once processed: what was accepted stays in the ledger, whatever leaves. */
  after: ['status-after', 'reset-after', 'stall-after', 'truncated', 'empty', 'html'],
} as const;

type Phase = keyof typeof KINDS;
type NamedKind = (typeof KINDS)[Phase][number];

const FAULT_KINDS: readonly NamedKind[] = Object.values(KINDS).flat();

const STATUS_KIND = /^status-([2-5]\d\d)$/;

const faultSchema = z.strictObject({
  kind: z.custom<NamedKind | `status-${number}`>(
    (value) => FAULT_KINDS.includes(value as NamedKind) || (typeof value === 'string' && STATUS_KIND.test(value)),
    `expected status-<200 to 599> or one of ${FAULT_KINDS.join(', ')}`,
  ),
  /** The area; all by default. */
  area: z.enum(AREAS).optional(),
  /** Share of the requests, 0 to 1. */
  rate: z.number().min(0).max(1).default(1),
  seed: z.int().default(1),
  /** How often it is applied at most. */
  times: z.int().min(0).optional(),
  /** Only these requests of the area, counted from 1 since the faults were set. */
  nth: z.union([z.int().min(1), z.array(z.int().min(1))]).optional(),
  /** Only requests with a number that ends so; for faults of rows, exactly those rows. */
  endingWith: z
    .string()
    .regex(/^\d{1,15}$/, 'expected 1 to 15 digits')
    .optional(),
  /** Share of the rows, 0 to 1; at least one row unless it is 0. */
  rows: z.number().min(0).max(1).default(0.25),
  /** Milliseconds, for latency. */
  delayMs: z.number().min(0).max(600_000).default(100),
  /** Seconds, for status-429 and status-503. */
  retryAfter: z.int().min(0).max(86_400).default(1),
  retryAfterForm: z.enum(['seconds', 'date', 'none']).default('seconds'),
  /** The status of the answer, for status-after. */
  status: z.int().min(200).max(599).default(500),
  /** For reject-rows: what the row's status says. */
  description: z.string().default(INVALID_MSISDN),
});

/** A fault as it is written: everything but `kind` is optional. */
export type FaultInput = z.input<typeof faultSchema>;
type SandboxFault = z.output<typeof faultSchema>;
type SetFault = SandboxFault & { applied: number };

/** A fault of rows that strikes a request, with its own random numbers for that request. */
export interface RowFault {
  readonly fault: SandboxFault;
  readonly random: Random;
}

/** The faults that are set. Deterministic: the same faults and the same order of requests give the same result. */
export class FaultSet {
  #faults: SetFault[] = [];
  readonly #requestsOf = new Map<Area, number>();

  /** Replaces all faults and begins to count requests anew. Throws a UserError with all problems when one makes no sense. */
  set(written: unknown): void {
    const parsed = z.array(faultSchema).safeParse([written].flat());
    if (!parsed.success) {
      const problems = parsed.error.issues.map(({ path, message }) => ({
        where: `faults[${path.join('.')}]`,
        message,
      }));
      const list = problems.map(({ where, message }) => `${where}: ${message}`).join('; ');
      const hint = 'src/sandbox/README.md lists the kinds and their parameters.';
      throw new UserError('bad-flag', `Cannot set faults: ${list}`, { problems, hint });
    }
    this.#faults = parsed.data.map((fault) => ({ ...fault, applied: 0 }));
    this.#requestsOf.clear();
  }

  /** Lists the faults, with how often each was applied. */
  list(): readonly SetFault[] {
    return this.#faults;
  }

  /**
   * What strikes one request: at most one fault that decides the answer, in the place of processing where `isBefore`, and any number of delays and
   * row faults. Call once for each request, in the order of arrival.
   */
  choose(area: Area, recipients: readonly string[]) {
    const nth = (this.#requestsOf.get(area) ?? 0) + 1;
    this.#requestsOf.set(area, nth);
    let delayMs = 0;
    let decisive: SandboxFault | undefined;
    const rows: RowFault[] = [];
    for (const fault of this.#faults) {
      const phase = phaseOf(fault.kind);
      const isDecisive = phase === 'before' || phase === 'after';
      if ((isDecisive && decisive !== undefined) || !strikes(fault, area, nth, recipients)) continue;
      fault.applied += 1;
      if (phase === 'delay') delayMs += fault.delayMs;
      else if (phase === 'rows') rows.push({ fault, random: createRandom(fault.seed, -nth) });
      else decisive = fault;
    }
    return { delayMs, rows, decisive, isBefore: decisive !== undefined && phaseOf(decisive.kind) === 'before' };
  }
}

function strikes(fault: SetFault, area: Area, nth: number, recipients: readonly string[]): boolean {
  const { endingWith } = fault;
  if (fault.area !== undefined && fault.area !== area) return false;
  if (fault.times !== undefined && fault.applied >= fault.times) return false;
  if (fault.nth !== undefined && ![fault.nth].flat().includes(nth)) return false;
  if (endingWith !== undefined && !recipients.some((recipient) => recipient.endsWith(endingWith))) return false;
  return createRandom(fault.seed, nth)() < fault.rate;
}

/** The rows of a request that a fault is about: those whose number ends so, or a share of them, one at least. */
export function chooseRows({ fault, random }: RowFault, recipients: readonly string[]): boolean[] {
  const { endingWith } = fault;
  if (endingWith !== undefined) return recipients.map((recipient) => recipient.endsWith(endingWith));
  const count = fault.rows === 0 ? 0 : Math.max(1, Math.round(fault.rows * recipients.length));
  return choosePlaces(count, recipients.length, random);
}

/**
 * The first row fault that applies to a request about one row; `strict-numbers` depends on the number's form alone, and
 * is not among them.
 */
export function findRowFault(chosen: readonly RowFault[], recipient: string): SandboxFault | undefined {
  return chosen.find((each) => each.fault.kind !== 'strict-numbers' && chooseRows(each, [recipient])[0] === true)
    ?.fault;
}

function phaseOf(kind: SandboxFault['kind']): Phase {
  const phases = Object.keys(KINDS) as Phase[];
  return phases.find((phase) => KINDS[phase].some((named) => named === kind)) ?? 'before';
}

/**
 * Sends what came of processing, undefined where the fault struck before it, as the fault says, or nothing. `form` and `now`
 * are for errors of the area.
 */
export async function deliver(
  reply: FastifyReply,
  processed: HttpAnswer | undefined,
  fault: SandboxFault | undefined,
  form: ErrorForm,
  now: number,
): Promise<void> {
  if (fault === undefined) return processed && send(reply, processed);
  const status = processed?.status ?? 0;
  switch (fault.kind) {
    case 'reset-before':
    case 'reset-after':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return;
    case 'stall':
    case 'stall-after':
      // The socket stays open until the client, or the closing sandbox, ends it.
      reply.hijack();
      return;
    case 'truncated':
      return processed && sendTruncated(reply, processed);
    case 'empty':
      return send(reply, { status, headers: {}, body: undefined });
    case 'html':
      return send(reply, answerHtml(status));
    default:
      return send(reply, answerOfFault(fault, reply.request.url, now, form));
  }
}

/** The answer of `status-<code>` and of `status-after`: errors of the service in its own form, others as a proxy gives them. */
function answerOfFault(fault: SandboxFault, url: string, now: number, form: ErrorForm): HttpAnswer {
  const status = Number(STATUS_KIND.exec(fault.kind)?.[1] ?? fault.status);
  const headers = faultHeaders(fault, status, url, now);
  const isOfProxy = status === 503 && fault.retryAfterForm === 'none';
  if (form.statuses[status] !== undefined && !isOfProxy) return answerRefused({ status }, form, now, headers);
  return status < 300 ? { status, headers, body: undefined } : answerHtml(status, headers);
}

function faultHeaders(fault: SandboxFault, status: number, url: string, now: number): Record<string, string> {
  if (status >= 300 && status < 400) return { location: `/redirected${url}` };
  if ((status !== 429 && status !== 503) || fault.retryAfterForm === 'none') return {};
  if (fault.retryAfterForm === 'seconds') return { 'retry-after': String(fault.retryAfter) };
  return { 'retry-after': new Date(now + fault.retryAfter * 1000).toUTCString() };
}

async function send(reply: FastifyReply, answer: HttpAnswer): Promise<void> {
  reply.code(answer.status).headers(answer.headers);
  await reply.send(answer.body === undefined ? undefined : toBytes(answer.body));
}

/** Promises the whole body in Content-Length, sends half of it, and closes. */
function sendTruncated(reply: FastifyReply, answer: HttpAnswer): void {
  const bytes = toBytes(answer.body);
  reply.hijack();
  reply.raw.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes.length) });
  reply.raw.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => reply.raw.socket?.destroySoon());
}

function toBytes(body: unknown): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? ''));
}
