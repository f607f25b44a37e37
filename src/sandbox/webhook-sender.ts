import { EventEmitter, once, setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import { remember } from '../domain/is-object.js';
import { isOnThisMachine } from '../domain/loopback.js';
import type { Clock } from '../ports/clock.js';

/** POSTs in flight at once, over all addresses: a receiver must not need a socket per message. */
const MAX_IN_FLIGHT = 16;
/** For a connection, for the headers of an answer, and between two pieces of its body. */
const TIMEOUT_MS = 10_000;
/** Bodies of answers are ignored; a longer one closes its connection. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** What is due within so short a time shares a timer: 100,000 may wait. */
const SHARED_MS = 10;

/** What is POSTed once. */
export interface Post {
  /** Headers beside content-type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is sent as JSON. */
  readonly body: unknown;
}

/** How POSTs of one kind are made of facts, and repeated. Several of the same facts leave one after another. */
export interface PostKind<Facts> {
  readonly count: number;
  /** The POST at that place, for the attempt of that number, both from 0. `since` is the time of its first attempt, ISO 8601. */
  build(facts: Facts, place: number, attempt: number, since: string): Post;
  /** Milliseconds before the attempt of that number, from 1; undefined = the POST is given up. */
  retryDelayMs(attempt: number): number | undefined;
}

interface Posting {
  readonly kind: PostKind<unknown>;
  readonly url: string;
  readonly facts: unknown;
}

/** How many POSTs came to what. */
const NOTHING = {
  /** POSTs on their way, waiting for their turn or for another attempt. */
  pending: 0,
  /** POSTs that were answered 2xx. */
  delivered: 0,
  givenUp: 0,
  /** Attempts that were not answered 2xx. */
  failedAttempts: 0,
  /** For an address outside of this machine: never tried. */
  outside: 0,
};

/**
 * Delivers to webhooks in the background. Redirects are not followed: any answer but 2xx, and any error of the network, is a
 * failed attempt. Nothing leaves this machine unless configured.
 */
export class WebhookSender {
  readonly #clock: Clock;
  readonly #retryScale: number;
  readonly #deliversOutside: boolean;
  readonly #agent: Agent;
  readonly #limit = pLimit(MAX_IN_FLIGHT);
  /** By lane: resolves when what was sent in it last is over. */
  readonly #lanes = new Map<string, Promise<void>>();
  /** What waits for another attempt, by when it is due. */
  readonly #waits = new Map<number, Promise<void>>();
  #counts = { ...NOTHING };
  readonly #changes = new EventEmitter().setMaxListeners(0);
  /** Aborted when all is forgotten; a closed sender keeps an aborted one. */
  #ending = createEnding();

  /** `retryScale` is the factor of all delays between attempts: 1 is the service's own, tests use less. */
  constructor(clock: Clock, retryScale: number, deliversOutside: boolean) {
    this.#clock = clock;
    this.#retryScale = retryScale;
    this.#deliversOutside = deliversOutside;
    this.#agent = new Agent({
      connections: MAX_IN_FLIGHT,
      connect: { timeout: TIMEOUT_MS },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  }

  get counts(): Readonly<typeof NOTHING> {
    return { ...this.#counts };
  }

  /** What has a lane leaves after all that was sent in it before; what has none waits for no other. */
  send<Facts>(kind: PostKind<Facts>, url: string, facts: Facts, lane?: string): void {
    if (this.#ending.signal.aborted) return;
    if (!this.#deliversOutside && !isOnThisMachine(url)) {
      this.#counts.outside += kind.count;
      return;
    }
    this.#counts.pending += kind.count;
    const before = lane === undefined ? undefined : this.#lanes.get(lane);
    const over = this.#deliver({ kind: kind as PostKind<unknown>, url, facts }, before);
    if (lane === undefined) return;
    this.#lanes.set(lane, over);
    void over.then(() => {
      if (this.#lanes.get(lane) === over) this.#lanes.delete(lane);
    });
  }

  /** Calls back after that time, unless everything is cleared or closed before. */
  later(delayMs: number, action: () => void): void {
    const { signal } = this.#ending;
    void this.#clock.sleep(delayMs, signal).then(() => {
      if (!signal.aborted) action();
    });
  }

  /** Resolves when no POST is in flight or has its turn; does not wait for later attempts. */
  async rest(): Promise<void> {
    for (;;) {
      // By the next turn what follows an answer has its turn.
      await setImmediate();
      if (this.#limit.activeCount + this.#limit.pendingCount === 0) return;
      await once(this.#changes, 'change');
    }
  }

  /** Forgets everything that has not been delivered, and counts from 0. What is on its way at this moment may still arrive. */
  clear(): void {
    this.#ending.abort();
    this.#ending = createEnding();
    this.#lanes.clear();
    this.#waits.clear();
    this.#counts = { ...NOTHING };
    this.#changes.emit('change');
  }

  /** Ends all connections; undelivered posts are dropped. */
  async close(): Promise<void> {
    this.clear();
    this.#ending.abort();
    await this.#agent.destroy();
  }

  /** One after another, each until it is taken or given up; `before` is what goes first. */
  async #deliver(posting: Posting, before: Promise<void> | undefined): Promise<void> {
    const { signal } = this.#ending;
    if (before !== undefined) await before;
    for (let place = 0; place < posting.kind.count; place++) {
      const isTaken = await this.#insist(posting, place, signal);
      if (signal.aborted) return;
      this.#counts[isTaken ? 'delivered' : 'givenUp'] += 1;
      this.#counts.pending -= 1;
    }
  }

  /** Tries one POST until it is taken, or given up. */
  async #insist({ kind, url, facts }: Posting, place: number, signal: AbortSignal): Promise<boolean> {
    let since = '';
    for (let attempt = 0; ; attempt++) {
      const delayMs = attempt === 0 ? 0 : kind.retryDelayMs(attempt);
      if (delayMs === undefined) return false;
      if (delayMs > 0) await this.#wait(delayMs * this.#retryScale, signal);
      const isTaken = await this.#limit(() => {
        since ||= new Date(this.#clock.now()).toISOString();
        return signal.aborted ? false : this.#post(url, kind.build(facts, place, attempt, since));
      });
      this.#changes.emit('change');
      if (isTaken || signal.aborted) return isTaken;
      this.#counts.failedAttempts += 1;
    }
  }

  #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    const due = Math.floor((this.#clock.monotonicMs() + delayMs) / SHARED_MS);
    return remember(this.#waits, due, () =>
      this.#clock.sleep(delayMs, signal).finally(() => void this.#waits.delete(due)),
    );
  }

  /** Whether it was answered 2xx. */
  async #post(url: string, { headers, body }: Post): Promise<boolean> {
    try {
      const answer = await request(url, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
      return answer.statusCode >= 200 && answer.statusCode < 300;
    } catch {
      return false;
    }
  }
}

/** Any number of timers may listen to it. */
function createEnding(): AbortController {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  return ending;
}
