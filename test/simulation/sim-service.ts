import type { Area } from '../../src/domain/areas.js';
import type { Random } from '../../src/sandbox/random.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call, Transport } from '../../src/service/transport.js';
import { ownError } from '../service/an-answer.js';
import { type Done, type Ledger, SimLedger } from './sim-ledger.js';
import { rowsOf, type Subject } from './subject.js';
import type { SimProcess, Timeline } from './timeline.js';

/** Shares of requests, from 0 to 1, that meet with each kind of fault. */
export interface FaultRates {
  /** Nothing of it arrives. */
  readonly notSent: number;
  /** Not processed, and no answer. */
  readonly lostBefore: number;
  /** Processed, and no answer. */
  readonly lostAfter: number;
  readonly status5xx: number;
  /** Turned away, in the service's own words. */
  readonly busy: number;
  /** Something in between answers, as proxies and firewalls do, whether the request was processed or not. */
  readonly proxy: number;
  /** Processed, and the answer is nonsense, empty, partial, or another's. */
  readonly badAnswer: number;
  readonly unauthorized: number;
  readonly slow: number;
}

export const NO_FAULTS: FaultRates = {
  ...{
    notSent: 0,
    lostBefore: 0,
    lostAfter: 0,
    status5xx: 0,
    busy: 0,
    proxy: 0,
    badAnswer: 0,
    unauthorized: 0,
    slow: 0,
  },
};

interface QueryResult {
  readonly trace: (line: string) => void;
  readonly subjectOf: (call: Call) => Subject;
  /** A request leaves, at the moment of its first byte; what is returned is given back once it is processed. */
  readonly onLeave: (call: Call, subject: Subject, process: SimProcess) => Leave;
  readonly onProcessed: (leave: Leave) => void;
  /** A row of a request whose answer does not tell what came of it, as `<kind> <name>`. */
  readonly onUnknown: (row: string) => void;
}

/** A request that left. */
export interface Leave {
  readonly subject: Subject;
  /** The journal's entry under which it did; undefined where it needs none. */
  readonly entry: string | undefined;
}

const LEAVES_OPEN: ReadonlySet<string> = new Set(['lostBefore', 'lostAfter', 'status5xx', 'proxy', 'badAnswer']);

const PROXY_STATUSES = [503, 503, 429, 403, 406, 413];
const PROXY_WORDS = 'upstream connect error or disconnect/reset before headers. reset reason: connection termination';

/** The service in this process: faults by chance, answers in any order, and a ledger. */
export class SimService {
  faults: FaultRates = NO_FAULTS;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #told: QueryResult;
  readonly #ledger: SimLedger;
  readonly #cutOff = new Map<SimProcess, number>();
  #previous: Done | undefined;

  constructor(timeline: Timeline, random: Random, told: QueryResult) {
    this.#ledger = new SimLedger(random);
    this.#timeline = timeline;
    this.#random = random;
    this.#told = told;
  }

  get ledger(): Ledger {
    return this.#ledger.ledger;
  }

  /** This process reaches it no more for a time. */
  cutOff(process: SimProcess, forMs: number): void {
    this.#cutOff.set(process, this.#timeline.nowMs + forMs);
  }

  /** The way to it from one process. */
  transportOf(process: SimProcess): Transport {
    return {
      send: (call, signal) =>
        new Promise<Answer>((resolve) => {
          const leave = this.#told.onLeave(call, this.#told.subjectOf(call), process);
          this.ledger.requests += 1;
          let isAnswered = false;
          const abandon = () => {
            for (const row of rowsOf(leave.subject)) this.#told.onUnknown(row);
            answer(failed(true, 'abandoned'));
          };
          const answer = (value: Answer) => {
            if (isAnswered) return;
            isAnswered = true;
            signal?.removeEventListener('abort', abandon);
            resolve(value);
          };
          signal?.addEventListener('abort', abandon);
          const isCutOff = this.#timeline.nowMs < (this.#cutOff.get(process) ?? 0);
          this.#receive(call, { leave, isCutOff }, (value, delayMs) =>
            this.#timeline.schedule(delayMs, () => answer(value), process),
          );
        }),
      close: async () => {},
    };
  }

  #receive(
    call: Call,
    { leave, isCutOff }: { leave: Leave; isCutOff: boolean },
    answer: (value: Answer, delayMs: number) => void,
  ): void {
    const fault = isCutOff ? 'notSent' : this.#chooseFault();
    const travelMs = 5 + this.#random() * 40;
    const backMs = travelMs + this.#random() * (fault === 'slow' ? 90_000 : 60);
    const rows = rowsOf(leave.subject);
    this.#told.trace(`${call.method} ${call.path} ${rows.join(', ')}: ${fault ?? 'ok'}`);
    if (fault !== undefined && LEAVES_OPEN.has(fault)) for (const row of rows) this.#told.onUnknown(row);
    const early = this.#answerUnprocessed(fault, call);
    if (early !== undefined) {
      answer(early, backMs);
      return;
    }
    // Its process may die meanwhile: what is on its way arrives all the same.
    this.#timeline.schedule(travelMs, () => {
      const done = this.#ledger.process(call, this.#timeline.nowMs);
      this.#told.onProcessed(leave);
      const previous = this.#previous;
      this.#previous = done;
      answer(this.#answerProcessed(fault, done, previous), backMs);
    });
  }

  #answerUnprocessed(fault: keyof FaultRates | undefined, { area = 'sms' }: Call): Answer | undefined {
    if (fault === 'notSent') return failed(false, 'ECONNREFUSED');
    if (fault === 'lostBefore') return failed(true, 'UND_ERR_SOCKET');
    if (fault === 'busy') return this.#refuseBusy(area);
    if (fault === 'unauthorized') return respond(401, ownError(area, 1200, 'Unauthorized'));
    if (fault === 'proxy' && this.#random() < 0.5) return this.#answerBetween();
    if (fault === 'status5xx' && this.#random() < 0.5) return respond(500, { code: 1, message: 'oops' });
    return undefined;
  }

  #answerProcessed(fault: keyof FaultRates | undefined, done: Done, previous: Done | undefined): Answer {
    if (fault === 'lostAfter') return failed(true, 'UND_ERR_SOCKET');
    if (fault === 'status5xx') return respond(502, 'Bad gateway');
    if (fault === 'proxy') return this.#answerBetween();
    if (fault === 'badAnswer' && done.status < 300) return this.#spoil(done, previous);
    return respond(done.status, done.body);
  }

  #chooseFault(): keyof FaultRates | undefined {
    let left = this.#random();
    for (const [kind, share] of Object.entries(this.faults)) {
      left -= share;
      if (left < 0) return kind as keyof FaultRates;
    }
    return undefined;
  }

  /** What a proxy or a firewall says, whether the service has done what was asked or not. */
  #answerBetween(): Answer {
    const status = PROXY_STATUSES[Math.floor(this.#random() * PROXY_STATUSES.length)] ?? 503;
    return respond(status, PROXY_WORDS, this.#random() < 0.5 ? { 'retry-after': '2' } : {});
  }

  #refuseBusy(area: Area): Answer {
    const headers: Record<string, string> = this.#random() < 0.5 ? { 'retry-after': '2' } : {};
    return respond(this.#random() < 0.5 ? 429 : 503, ownError(area, 429, 'Too many requests'), headers);
  }

  #spoil(done: Done, previous: Done | undefined): Answer {
    const kind = Math.floor(this.#random() * 4);
    if (kind === 0) return respond(200, '<html>Please wait</html>');
    if (kind === 1) return respond(done.status, '');
    // A conversation's answer has nothing that tells it from another's.
    if (kind === 2 && previous !== undefined && !('conversationId' in (done.body as object)))
      return respond(done.status, previous.body);
    const body = done.body as { messages?: unknown[] };
    if (body.messages === undefined) return respond(done.status, {});
    const kept = body.messages.filter(() => this.#random() < 0.6);
    return respond(done.status, { ...body, messages: kept });
  }
}

function respond(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { kind: 'response', status, headers, body: bytes };
}

function failed(mayHaveBeenProcessed: boolean, reason: string): Answer {
  return { kind: 'failure', mayHaveBeenProcessed, reason };
}
