import type { Random } from '../../src/sandbox/random.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import type { ExportCells } from '../settle/an-export.js';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** A message that the service took: the judge of every walk. */
export interface Taken {
  readonly clientMessageId: string;
  readonly destination: string;
  readonly umid: string;
  readonly createdMs: number;
}

interface Message {
  readonly clientMessageId: string;
  readonly destination: string;
}

/** What an SMS request comes to; each is drawn anew, so what is refused once may be taken the next time. */
type Fate =
  | 'taken'
  | 'rows refused'
  | 'refused'
  | 'busy'
  | 'unauthorized'
  | 'not sent'
  | 'lost'
  | 'lost after'
  | 'taken behind a proxy that says 503'
  | 'late'
  | 'garbled';
const FATES: readonly (readonly [Fate, share: number])[] = [
  ['taken', 0.45],
  ['rows refused', 0.12],
  ['refused', 0.06],
  ['busy', 0.05],
  ['unauthorized', 0.04],
  ['not sent', 0.04],
  ['lost', 0.07],
  ['lost after', 0.06],
  ['taken behind a proxy that says 503', 0.02],
  ['late', 0.04],
  ['garbled', 0.05],
];

/** The service as far as a walk needs it: takes messages, refuses, loses answers, and may process a request long after it came. */
export class WalkService {
  readonly taken: Taken[] = [];
  /** Messages of others in the same subaccount. */
  readonly others: Taken[] = [];
  /** Came, with no answer, and are processed when their time comes. */
  #late: { readonly atMs: number; readonly messages: readonly Message[] }[] = [];
  readonly #random: Random;
  readonly #now: () => number;
  isFlawless = false;
  requests = 0;

  constructor(random: Random, now: () => number) {
    this.#random = random;
    this.#now = now;
  }

  /** Time has passed: what was late is processed, and someone else sends something. */
  passTo(nowMs: number): void {
    for (const { atMs, messages } of this.#late) if (atMs <= nowMs) this.#take(messages, atMs);
    this.#late = this.#late.filter(({ atMs }) => atMs > nowMs);
    const number = this.others.length % 3 === 0 ? '+60123456789' : '+6598765432';
    const id = `other-${this.others.length}`;
    this.others.push({ clientMessageId: id, destination: number, umid: id, createdMs: nowMs });
  }

  /** Whether the service has taken a message, or has it on its way. */
  hasSeen(clientMessageId: string): boolean {
    const isIt = (message: Message) => message.clientMessageId === clientMessageId;
    return this.taken.some(isIt) || this.#late.some(({ messages }) => messages.some(isIt));
  }

  receive(call: Call): Answer {
    const { messages, clientBatchId } = JSON.parse(call.body?.toString('utf8') ?? '{}');
    this.requests += 1;
    switch (this.#chooseFate()) {
      case 'taken':
        return respond(
          200,
          this.#answer(clientBatchId, messages, () => false),
        );
      case 'rows refused':
        return respond(
          200,
          this.#answer(clientBatchId, messages, () => this.#random() < 0.5),
        );
      case 'refused':
        return respond(400, { code: 1100, message: 'Bulk limit reached' });
      case 'busy':
        return respond(503, { code: 2000, message: 'Busy', errorId: 'e' });
      case 'unauthorized':
        return respond(401, { code: 1200, message: 'Not authenticated' });
      case 'not sent':
        return { kind: 'failure', mayHaveBeenProcessed: false, reason: 'ECONNREFUSED' };
      case 'lost':
        return LOST;
      case 'lost after':
        this.#take(messages, this.#now());
        return LOST;
      case 'taken behind a proxy that says 503':
        this.#take(messages, this.#now());
        return respond(503, 'upstream connect error or disconnect/reset before headers');
      case 'late':
        this.#late.push({ atMs: this.#now() + this.#random() * 20 * MINUTE, messages });
        return LOST;
      case 'garbled': {
        const { messages: results, ...rest } = this.#answer(clientBatchId, messages, () => false);
        return respond(200, { ...rest, messages: results.filter(() => this.#random() < 0.5) });
      }
    }
  }

  #chooseFate(): Fate {
    if (this.isFlawless) return 'taken';
    let left = this.#random();
    for (const [fate, share] of FATES) {
      left -= share;
      if (left < 0) return fate;
    }
    return 'taken';
  }

  #answer(clientBatchId: string, messages: readonly Message[], isRefused: () => boolean) {
    const results = messages.map((message) => {
      const { clientMessageId, destination } = message;
      if (!this.isFlawless && isRefused()) {
        return { umid: 'r', clientMessageId, destination, status: { code: 'REJECTED', description: 'No route' } };
      }
      const [umid] = this.#take([message], this.#now());
      return { umid, clientMessageId, destination, status: { code: 'QUEUED', description: 'SMS is accepted' } };
    });
    return { batchId: `b${this.requests}`, clientBatchId, messages: results };
  }

  #take(messages: readonly Message[], createdMs: number): string[] {
    return messages.map(({ clientMessageId, destination }) => {
      const umid = `u-${this.taken.length}`;
      this.taken.push({ clientMessageId, destination, umid, createdMs });
      return umid;
    });
  }

  /** The message export, asked for in one of the ways in which it can be: its range of time, filters, a limit, a broken download. */
  exportMessages(random: Random): ExportCells[] {
    const isWhole = random() < 0.5;
    const now = this.#now();
    const fromMs = isWhole || random() < 0.5 ? 0 : now - random() * 30 * HOUR;
    const toMs = isWhole || random() < 0.5 ? now : now - random() * 6 * HOUR;
    const country = !isWhole && random() < 0.2 ? countryOf(pick(['+65', '+60'], random)) : undefined;
    const number = !isWhole && random() < 0.15 ? pick(this.taken, random)?.destination : undefined;
    const all = [...this.taken, ...this.others]
      .filter(({ createdMs }) => createdMs >= fromMs && createdMs <= toMs)
      .filter(({ destination }) => country === undefined || countryOf(destination) === country)
      .filter(({ destination }) => number === undefined || destination === number)
      .sort((one, other) => one.createdMs - other.createdMs);
    const count = !isWhole && random() < 0.3 ? Math.floor(random() * (all.length + 1)) : all.length;
    const rows = random() < 0.5 ? all.slice(0, count) : all.slice(all.length - count);
    const isMasked = random() < 0.5;
    // One that is asked for in time may hold messages that are not sent yet.
    const states = ['sent', 'delivered', 'undelivered', ...(isWhole ? [] : ['queued'])];
    return rows.map(({ clientMessageId, destination, umid }) => ({
      ...{ umid, clientmessageid: clientMessageId, subaccountid: 'acme_hq', direction: '1' },
      status_value: pick(states, random),
      msisdn: isMasked ? `${destination.slice(1, 5)}******` : destination,
    }));
  }
}

const LOST: Answer = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'UND_ERR_SOCKET' };

function respond(status: number, body: unknown): Answer {
  return { kind: 'response', status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}

function countryOf(number: string): string {
  return number.startsWith('+60') ? 'MY' : 'SG';
}

export function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)]!;
}
