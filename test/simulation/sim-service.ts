import type { Random } from '../../src/sandbox/random.js';
import { shuffle } from '../../src/sandbox/random.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call, Transport } from '../../src/service/transport.js';
import type { SimProcess, Timeline } from './timeline.js';

/** What the service did: the judge of every run. */
export interface Ledger {
  /** clientMessageId → its message, as accepted. */
  readonly messages: Map<string, { readonly umid: string; readonly destination: string; readonly text: string }>;
  /** Number → how often an SMS to it was accepted. */
  readonly sent: Map<string, number>;
  /** Number → id of the contact; a repetition merges. */
  readonly contacts: Map<string, number>;
  /** Name of a customer → how often a conversation was made for him. */
  readonly conversations: Map<string, number>;
  /** Things that a step made before its first request: webhooks and channels. */
  readonly made: string[];
  /** The dialer: 3 runs, 8 is paused. */
  campaignStatus: number;
  /** Texts in the chat room. */
  readonly posts: string[];
  requests: number;
}

/** Shares of requests, from 0 to 1, that meet with each kind of fault. */
export interface FaultRates {
  /** Nothing of it arrives. */
  readonly notSent: number;
  /** Not processed, and no answer. */
  readonly lostBefore: number;
  /** Processed, and no answer. */
  readonly lostAfter: number;
  readonly status5xx: number;
  readonly busy: number;
  /** Processed, and the answer is nonsense, empty, partial, or another's. */
  readonly badAnswer: number;
  readonly unauthorized: number;
  readonly slow: number;
}

export const NO_FAULTS: FaultRates = {
  ...{ notSent: 0, lostBefore: 0, lostAfter: 0, status5xx: 0, busy: 0, badAnswer: 0, unauthorized: 0, slow: 0 },
};

/** Numbers that end so are refused: alone inside a 200, or with a 400 for their whole batch. */
export const REFUSED_ALONE = '7';
export const REFUSES_BATCH = '13';

interface Told {
  readonly trace: (line: string) => void;
  /** A row of a request whose answer does not tell what came of it, as `<kind> <name>`. */
  readonly onUnknown: (row: string) => void;
}

const LEAVES_OPEN: ReadonlySet<string> = new Set(['lostBefore', 'lostAfter', 'status5xx', 'badAnswer']);

interface Done {
  readonly status: number;
  readonly body: unknown;
}

/** The service in this process: faults by chance, answers in any order, and a ledger. */
export class SimService {
  readonly ledger: Ledger = {
    messages: new Map(),
    sent: new Map(),
    contacts: new Map(),
    conversations: new Map(),
    made: [],
    campaignStatus: 3,
    posts: [],
    requests: 0,
  };
  faults: FaultRates = NO_FAULTS;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #told: Told;
  #previous: Done | undefined;

  constructor(timeline: Timeline, random: Random, told: Told) {
    this.#timeline = timeline;
    this.#random = random;
    this.#told = told;
  }

  /** The way to it from one process; `onLeave` is told of each request at the moment in which its first byte leaves. */
  transportOf(process: SimProcess, onLeave: (call: Call) => void): Transport {
    return {
      send: (call, signal) =>
        new Promise<Answer>((resolve) => {
          onLeave(call);
          this.ledger.requests += 1;
          let isAnswered = false;
          const abandon = () => {
            for (const row of rowsOf(call)) this.#told.onUnknown(row);
            answer(failed(true, 'abandoned'));
          };
          const answer = (value: Answer) => {
            if (isAnswered) return;
            isAnswered = true;
            signal?.removeEventListener('abort', abandon);
            resolve(value);
          };
          signal?.addEventListener('abort', abandon);
          this.#receive(call, (value, delayMs) => this.#timeline.schedule(delayMs, () => answer(value), process));
        }),
      close: async () => {},
    };
  }

  #receive(call: Call, answer: (value: Answer, delayMs: number) => void): void {
    const fault = this.#chooseFault();
    const travelMs = 5 + this.#random() * 40;
    const backMs = travelMs + this.#random() * (fault === 'slow' ? 90_000 : 60);
    this.#told.trace(`${call.method} ${call.path} ${rowsOf(call).join(', ')}: ${fault ?? 'ok'}`);
    if (fault !== undefined && LEAVES_OPEN.has(fault)) for (const row of rowsOf(call)) this.#told.onUnknown(row);
    const early = this.#answerUnprocessed(fault);
    if (early !== undefined) {
      answer(early, backMs);
      return;
    }
    // Its process may die meanwhile: what is on its way arrives all the same.
    this.#timeline.schedule(travelMs, () => {
      const done = this.#process(call);
      const previous = this.#previous;
      this.#previous = done;
      answer(this.#answerProcessed(fault, done, previous), backMs);
    });
  }

  #answerUnprocessed(fault: keyof FaultRates | undefined): Answer | undefined {
    if (fault === 'notSent') return failed(false, 'ECONNREFUSED');
    if (fault === 'lostBefore') return failed(true, 'UND_ERR_SOCKET');
    if (fault === 'busy') return this.#refuseBusy();
    if (fault === 'unauthorized') return respond(401, { code: 1200, message: 'Unauthorized' });
    if (fault === 'status5xx' && this.#random() < 0.5) return respond(500, { code: 1, message: 'oops' });
    return undefined;
  }

  #answerProcessed(fault: keyof FaultRates | undefined, done: Done, previous: Done | undefined): Answer {
    if (fault === 'lostAfter') return failed(true, 'UND_ERR_SOCKET');
    if (fault === 'status5xx') return respond(502, 'Bad gateway');
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

  #refuseBusy(): Answer {
    const headers: Record<string, string> = this.#random() < 0.5 ? { 'retry-after': '2' } : {};
    return respond(this.#random() < 0.5 ? 429 : 503, { code: 429, message: 'Too many requests' }, headers);
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

  #process({ path, body, method }: Call): Done {
    const content = JSON.parse(body?.toString('utf8') ?? 'null');
    if (path.endsWith('/messages/batch')) return this.#takeBatch(content);
    if (path.endsWith('/contacts')) return this.#takeContact(content);
    if (path.endsWith('/conversations')) return this.#takeConversation(content);
    if (path.endsWith('/webhooks')) return this.#make('webhook', content);
    if (path.endsWith('/channels')) return this.#make('channel', content);
    if (path.includes('/campaigns/')) return method === 'GET' ? this.#readCampaign() : this.#changeCampaign(content);
    if (path.endsWith('/chat/v1/messages')) return this.#takePost(content);
    throw new Error(`the simulated service has no ${path}`);
  }

  #readCampaign(): Done {
    const { campaignStatus: status } = this.ledger;
    const campaign = { 'campaign-name': 'c', 'campaign-id': 101, enabled: 'Y', 'dynamic-campaign': 'Y', status };
    return { status: 200, body: { campaign } };
  }

  #changeCampaign({ status }: { status: string }): Done {
    this.ledger.campaignStatus = status === 'PAUSED' ? 8 : 3;
    return { status: 200, body: { message: 'Campaign status changed.' } };
  }

  #takePost({ messageRaw }: { messageRaw: string }): Done {
    this.ledger.posts.push(messageRaw);
    return { status: 200, body: { parsed: messageRaw } };
  }

  #takeBatch({ clientBatchId, template, messages }: Batch): Done {
    if (messages.some(({ destination }) => destination.endsWith(REFUSES_BATCH))) {
      return { status: 400, body: { code: 1002, message: 'Invalid MSISDN' } };
    }
    const results = messages.map(({ clientMessageId, destination, text }) => {
      const umid = `u-${this.ledger.requests}-${clientMessageId}`;
      if (destination.endsWith(REFUSED_ALONE)) {
        return { umid, clientMessageId, destination, status: { code: 'REJECTED', description: 'No route' } };
      }
      this.ledger.messages.set(clientMessageId, { umid, destination, text: text ?? template?.text ?? '' });
      this.ledger.sent.set(destination, (this.ledger.sent.get(destination) ?? 0) + 1);
      return { umid, clientMessageId, destination, status: { code: 'QUEUED', description: 'SMS is accepted' } };
    });
    const rejectedCount = results.filter(({ status }) => status.code === 'REJECTED').length;
    const counts = { acceptedCount: results.length - rejectedCount, rejectedCount };
    return {
      status: 200,
      body: { batchId: `b${this.ledger.requests}`, clientBatchId, ...counts, messages: shuffle(results, this.#random) },
    };
  }

  #takeContact(contact: { addresses: { msisdn: string } }): Done {
    const { msisdn } = contact.addresses;
    if (msisdn.endsWith(REFUSED_ALONE)) return { status: 400, body: { code: 1002, message: 'Invalid MSISDN' } };
    const known = this.ledger.contacts.get(msisdn);
    const id = known ?? this.ledger.contacts.size + 1;
    this.ledger.contacts.set(msisdn, id);
    return { status: known === undefined ? 201 : 200, body: { id, ...contact } };
  }

  #takeConversation({ user }: { user: { name: string } }): Done {
    this.ledger.conversations.set(user.name, (this.ledger.conversations.get(user.name) ?? 0) + 1);
    return { status: 202, body: { conversationId: `c-${user.name}`, createdAt: '2026-11-21T12:00:00Z' } };
  }

  #make(kind: string, { name }: { name: string }): Done {
    this.ledger.made.push(kind);
    return { status: 200, body: { id: `${kind}-${this.ledger.made.length}`, name } };
  }
}

interface Batch {
  readonly clientBatchId: string;
  readonly template?: { readonly text?: string };
  readonly messages: readonly { clientMessageId: string; destination: string; text?: string }[];
}

function respond(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { kind: 'response', status, headers, body: bytes };
}

function failed(mayHaveBeenProcessed: boolean, reason: string): Answer {
  return { kind: 'failure', mayHaveBeenProcessed, reason };
}

/** The rows that a request is about, as `<kind> <name>`. */
function rowsOf({ path, body }: Call): string[] {
  const content = JSON.parse(body?.toString('utf8') ?? 'null');
  if (path.endsWith('/messages/batch')) return (content as Batch).messages.map(({ text }) => `sms ${text?.slice(3)}`);
  if (path.endsWith('/contacts')) return [`contacts ${content.firstName}`];
  return path.endsWith('/conversations') ? [`conversations ${content.user.name}`] : [];
}
