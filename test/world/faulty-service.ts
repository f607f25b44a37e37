import type { Area } from '../../src/domain/areas.js';
import { isObject } from '../../src/domain/is-object.js';
import type { RefusedRequest } from '../../src/sandbox/http-answer.js';
import type { Random } from '../../src/sandbox/random.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { type Arrived, arrivedAs, EXAMPLES } from '../kinds/examples.js';
import { ownError } from '../service/an-answer.js';
import { type Done, type Refusal, Service } from './service.js';
import { NOON, type SimProcess, type Timeline } from './timeline.js';

/** What may happen to a request. */
export type Fault =
  /** Nothing of it arrives. */
  | 'notSent'
  /** Not processed, and no answer. */
  | 'lostBefore'
  /** Processed, and no answer. */
  | 'lostAfter'
  /** Processed minutes later; no answer. */
  | 'late'
  | 'status5xx'
  /** Turned away, in the service's own words. */
  | 'busy'
  /** Something in between answers, as proxies and firewalls do, whether the request was processed or not. */
  | 'proxy'
  /** Processed, and the answer is nonsense, empty, partial, or another's. */
  | 'badAnswer'
  | 'unauthorized'
  | 'slow'
  /** The whole request, or some of its rows: the next time, they may be taken. */
  | 'refused'
  | 'rowsRefused';

/** Shares of requests, from 0 to 1. */
export type FaultRates = Readonly<Partial<Record<Fault, number>>>;

/** Who follows each request. */
export interface RequestWatch {
  /** A request leaves, at the moment of its first byte. What is returned hears what was done, once it is processed. */
  onLeave(request: Arrived, process: SimProcess): OnProcessed | undefined;
}

export type OnProcessed = (done: Done) => void;
type Sent = { request: Arrived; onProcessed: OnProcessed | undefined; fault: Fault | undefined; area: Area };

const OPEN_FAULTS: ReadonlySet<Fault> = new Set(['lostBefore', 'lostAfter', 'late', 'status5xx', 'proxy', 'badAnswer']);
const LATE_MS = 20 * 60_000;

const PROXY_STATUSES = [503, 503, 429, 403, 406, 413];
const PROXY_WORDS = 'upstream connect error or disconnect/reset before headers. reset reason: connection termination';
const BULK_LIMIT: RefusedRequest = { status: 400, code: 1100, message: 'Bulk limit reached' };

/** The service, and the ways to it: faults by chance, and answers in any order. */
export class FaultyService {
  readonly service = new Service();
  /** That left. */
  requests = 0;
  faults: FaultRates = {};
  /** Judges the number of a row, beside what chance does. */
  refuse: (number: string, area: Area) => Refusal = () => undefined;
  watch: RequestWatch = { onLeave: () => undefined };
  /** Rows of requests whose answers do not say what came of them, as `<kind> <row>`. */
  readonly unknowable = new Set<string>();
  /** On their way, for long. */
  readonly coming = new Set<Arrived>();
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #trace: (line: string) => void;
  readonly #cutOff = new Map<SimProcess, number>();
  #previous: Done | undefined;

  constructor(timeline: Timeline, random: Random, trace: (line: string) => void) {
    this.#timeline = timeline;
    this.#random = random;
    this.#trace = trace;
  }

  /** This process reaches it no more for a time. */
  cutOff(process: SimProcess, forMs: number): void {
    this.#cutOff.set(process, this.#timeline.nowMs + forMs);
  }

  send(process: SimProcess, call: Call, signal: AbortSignal | undefined): Promise<Answer> {
    return new Promise((resolve) => {
      const request = arrivedAs(call);
      const onProcessed = this.watch.onLeave(request, process);
      this.requests += 1;
      const answer = (value: Answer) => {
        signal?.removeEventListener('abort', abandon);
        resolve(value);
      };
      const abandon = () => {
        this.#noteUnknowable(request);
        answer(failed(true, 'abandoned'));
      };
      signal?.addEventListener('abort', abandon);
      const isCutOff = this.#timeline.nowMs < (this.#cutOff.get(process) ?? 0);
      const fault = isCutOff ? 'notSent' : this.#chooseFault();
      this.#trace(`${call.method} ${call.path} ${rowsIn(request).join(', ')}: ${fault ?? 'ok'}`);
      this.#receive({ request, onProcessed, fault, area: call.area ?? 'sms' }, (value, delayMs) =>
        this.#timeline.schedule(delayMs, () => answer(value), process),
      );
    });
  }

  #receive({ request, onProcessed, fault, area }: Sent, answer: (value: Answer, delayMs: number) => void): void {
    const travelMs = 5 + this.#random() * 40;
    const backMs = travelMs + this.#random() * (fault === 'slow' ? 90_000 : 60);
    if (fault !== undefined && OPEN_FAULTS.has(fault)) this.#noteUnknowable(request);
    const early = this.#answerUnprocessed(fault, area);
    if (early !== undefined) {
      answer(early, backMs);
      return;
    }
    if (fault === 'late') {
      this.coming.add(request);
      answer(failed(true, 'UND_ERR_SOCKET'), backMs);
    }
    const refuse = (number: string): Refusal => {
      if (fault === 'refused') return BULK_LIMIT;
      return fault === 'rowsRefused' && this.#random() < 0.5 ? 'the row' : this.refuse(number, area);
    };
    // Its process may die meanwhile: what is on its way arrives all the same.
    this.#timeline.schedule(fault === 'late' ? this.#random() * LATE_MS : travelMs, () => {
      this.coming.delete(request);
      const done = this.service.process(request, NOON + Math.round(this.#timeline.nowMs), refuse);
      onProcessed?.(done);
      const previous = this.#previous;
      this.#previous = done;
      answer(this.#answerProcessed(fault, done, previous), backMs);
    });
  }

  #noteUnknowable(request: Arrived): void {
    for (const row of rowsIn(request)) this.unknowable.add(row);
  }

  #answerUnprocessed(fault: Fault | undefined, area: Area): Answer | undefined {
    if (fault === 'notSent') return failed(false, 'ECONNREFUSED');
    if (fault === 'lostBefore') return failed(true, 'UND_ERR_SOCKET');
    if (fault === 'busy') return this.#refuseBusy(area);
    if (fault === 'unauthorized') return respond(401, ownError(area, 1200, 'Unauthorized'));
    if (fault === 'proxy' && this.#random() < 0.5) return this.#answerBetween();
    if (fault === 'status5xx' && this.#random() < 0.5) return respond(500, { code: 1, message: 'oops' });
    return undefined;
  }

  #answerProcessed(fault: Fault | undefined, done: Done, previous: Done | undefined): Answer {
    if (fault === 'lostAfter') return failed(true, 'UND_ERR_SOCKET');
    if (fault === 'status5xx') return respond(502, 'Bad gateway');
    if (fault === 'proxy') return this.#answerBetween();
    if (fault === 'badAnswer' && done.status < 300) return this.#spoil(done, previous);
    return respond(done.status, done.body, done.headers);
  }

  #chooseFault(): Fault | undefined {
    let left = this.#random();
    for (const [fault, share] of Object.entries(this.faults)) {
      left -= share;
      if (left < 0) return fault as Fault;
    }
    return undefined;
  }

  /** What a proxy or a firewall says, whether the service has done what was asked or not. */
  #answerBetween(): Answer {
    return respond(this.#pick(PROXY_STATUSES), PROXY_WORDS, this.#random() < 0.5 ? { 'retry-after': '2' } : {});
  }

  #refuseBusy(area: Area): Answer {
    const headers: Record<string, string> = this.#random() < 0.5 ? { 'retry-after': '2' } : {};
    return respond(this.#random() < 0.5 ? 429 : 503, ownError(area, 429, 'Too many requests'), headers);
  }

  /** A good answer that is none, another's, or wrong in itself. */
  #spoil({ route, status, headers, body }: Done, previous: Done | undefined): Answer {
    const spoiled = [
      () => '<html>Please wait</html>',
      () => '',
      () => ({}),
      // A conversation's answer has nothing that tells it from another's.
      () => (previous === undefined || route.path.endsWith('/conversations') ? {} : previous.body),
      ...(isBatchAnswer(body)
        ? [
            () => ({ ...body, messages: body.messages.filter(() => this.#random() < 0.6) }),
            () => ({ ...body, messages: body.messages.flatMap((row) => (this.#random() < 0.4 ? [row, row] : [row])) }),
            () => ({ ...body, messages: null }),
            () => ({ ...body, acceptedCount: body.acceptedCount + 1 }),
          ]
        : [() => withoutIds(body)]),
    ];
    return respond(status, this.#pick(spoiled)(), headers);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }
}

function isBatchAnswer(body: unknown): body is { acceptedCount: number; messages: readonly unknown[] } {
  return isObject(body) && Array.isArray(body.messages);
}

/** What it is about is left out, at whatever depth. */
function withoutIds(body: unknown): unknown {
  const isId = (name: string) => /^(?:uid|campaign-id|status|id|\w+I[dD])$/.test(name);
  return JSON.parse(JSON.stringify(body ?? null, (name, value) => (isId(name) ? undefined : value)));
}

/** Rows for which a request asks something, as `<kind> <row>`. */
function rowsIn(request: Arrived): string[] {
  return Object.entries(EXAMPLES).flatMap(([kind, example]) => example.rowsIn(request).map((row) => `${kind} ${row}`));
}

function respond(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const bytes = Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
  return { kind: 'response', status, headers, body: bytes };
}

function failed(mayHaveBeenProcessed: boolean, reason: string): Answer {
  return { kind: 'failure', mayHaveBeenProcessed, reason };
}
