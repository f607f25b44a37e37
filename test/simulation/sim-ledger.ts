import type { Random } from '../../src/sandbox/random.js';
import { shuffle } from '../../src/sandbox/random.js';
import type { Call } from '../../src/service/transport.js';

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
  /** Number → how often a code was sent to it. */
  readonly codes: Map<string, number>;
  /** Id of a session → how often a code was checked. */
  readonly checks: Map<string, number>;
  /** Ids of sessions whose code was right. */
  readonly verified: Set<string>;
  /** Ids of things that a step made before its first request: webhooks and channels. */
  readonly made: string[];
  /** The dialer: 3 runs, 8 is paused. */
  campaignStatus: number;
  /** Texts in the chat room. */
  readonly posts: string[];
  requests: number;
}

/** Numbers that end so are refused: alone inside a 200, or with a 400 for their whole batch. */
const REFUSED_ALONE = '7';
const REFUSES_BATCH = '13';
export const RIGHT_CODE = '1234';
export const WRONG_CODE = '9999';
/** Numbers that end so had a code a moment ago: they get none before that time. */
const TOO_EARLY = '5';
const EARLY_UNTIL_MS = 15_000;

/** What was done with a request that was processed, and is answered so unless a fault distorts it. */
export interface Done {
  readonly status: number;
  readonly body: unknown;
}

/** What the service does with requests that arrive. */
export class SimLedger {
  readonly ledger: Ledger = {
    messages: new Map(),
    sent: new Map(),
    contacts: new Map(),
    conversations: new Map(),
    codes: new Map(),
    checks: new Map(),
    verified: new Set(),
    made: [],
    campaignStatus: 3,
    posts: [],
    requests: 0,
  };
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  process({ path, body, method }: Call, nowMs: number): Done {
    const content = JSON.parse(body?.toString('utf8') ?? 'null');
    if (path.endsWith('/messages/batch')) return this.#takeBatch(content);
    if (path.endsWith('/contacts')) return this.#takeContact(content);
    if (path.endsWith('/conversations')) return this.#takeConversation(content);
    if (path.endsWith('/sessions')) return this.#startSession(content, nowMs);
    if (path.includes('/sessions/')) return this.#checkSession(path);
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
      count(this.ledger.sent, destination);
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
    count(this.ledger.conversations, user.name);
    return { status: 202, body: { conversationId: `c-${user.name}`, createdAt: '2026-11-21T12:00:00Z' } };
  }

  #startSession({ destination }: { destination: string }, nowMs: number): Done {
    if (destination.endsWith(REFUSED_ALONE)) return { status: 400, body: { code: 1002, message: 'Invalid MSISDN' } };
    const isEarly = destination.endsWith(TOO_EARLY) && nowMs < EARLY_UNTIL_MS;
    if (isEarly) return { status: 403, body: { code: 1400, message: 'Too early' } };
    count(this.ledger.codes, destination);
    return describeSession(`v-${destination.slice(1)}`, { status: 'WAITING', attempt: 0, destination });
  }

  /** Of a session that waits for its code from the start; without a code it is read. */
  #checkSession(path: string): Done {
    const [, id = '', code] = /\/sessions\/([\w-]+)(?:\?code=(\w+))?$/.exec(path) ?? [];
    if (code !== undefined) count(this.ledger.checks, id);
    if (code === RIGHT_CODE) this.ledger.verified.add(id);
    const isVerified = this.ledger.verified.has(id);
    const attempt = isVerified ? 0 : (this.ledger.checks.get(id) ?? 0);
    return describeSession(id, { status: isVerified ? 'VERIFIED' : 'WAITING', attempt });
  }

  #make(kind: string, { name }: { name: string }): Done {
    const id = `${kind}-${this.ledger.made.length + 1}`;
    this.ledger.made.push(id);
    return { status: 200, body: { id, name } };
  }
}

function describeSession(sessionId: string, about: Readonly<Record<string, unknown>>): Done {
  return { status: 200, body: { sessionId, ...about } };
}

function count(times: Map<string, number>, key: string): void {
  times.set(key, (times.get(key) ?? 0) + 1);
}

interface Batch {
  readonly clientBatchId: string;
  readonly template?: { readonly text?: string };
  readonly messages: readonly { clientMessageId: string; destination: string; text?: string }[];
}
