import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import type { Clock } from '../../ports/clock.js';
import { isOnThisMachine, lookUpOnThisMachine } from './own-machine.js';

/** POSTs in flight at once, over all addresses: a receiver must not need a socket per message. */
const MAX_IN_FLIGHT = 16;
/** For a connection, for the headers of an answer, and between two pieces of its body. */
const TIMEOUT_MS = 10_000;
/** Bodies of answers are ignored; a longer one closes its connection. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** The last ones: receipts of 100,000 messages would fill the memory. */
const MAX_KEPT = 1000;
/** What is due within so short a time shares a timer: 100,000 may wait. */
const SHARED_MS = 10;

/** What is POSTed once. */
export interface Post {
  /** Beside content-type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Becomes JSON. */
  readonly body: unknown;
}

/** POSTs to one address, of which each leaves only when the one before was answered 2xx, or given up. */
export interface Posting {
  readonly url: string;
  /** They leave after all that were sent under this name before; without one they wait for no other. */
  readonly lane?: string;
  /** Each is built when it leaves, for the attempt of that number, from 0: what waits takes little room. */
  readonly posts: readonly ((attempt: number) => Post)[];
  /** Milliseconds before the attempt of that number, from 1; undefined = the POST is given up. */
  retryDelayMs(attempt: number): number | undefined;
}

/** A POST that was not delivered, as `/_sandbox/webhooks/outside` shows it. */
export interface KeptPost {
  /** When it would have left, ISO 8601. */
  readonly at: string;
  readonly url: string;
  readonly reason: 'not delivered, outside of this machine';
  readonly body: unknown;
}

/** How many POSTs came to what. */
export interface WebhookCounts {
  /** On their way, waiting for their turn or for another attempt. */
  readonly pending: number;
  /** Answered 2xx. */
  readonly delivered: number;
  readonly givenUp: number;
  /** Attempts that were not answered 2xx. */
  readonly failedAttempts: number;
  /** Not delivered, outside of this machine: kept, and never tried. */
  readonly outside: number;
}

const NOTHING = { pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 };

/**
 * Delivers to webhooks in the background: a lane is one chain, and whose turn it is takes one of a few slots.
 * Redirects are not followed: any answer but 2xx, and any error of the network, is a failed attempt. Nothing leaves this
 * machine unless configured.
 */
export class WebhookSender {
  readonly #clock: Clock;
  readonly #retryScale: number;
  readonly #deliversOutside: boolean;
  readonly #agent: Agent;
  readonly #inSlot = pLimit(MAX_IN_FLIGHT);
  /** Of each lane that is under way, what waits behind. */
  readonly #lanes = new Map<string, Posting[]>();
  /** Timers of the attempts that wait, by when they are due. */
  readonly #waits = new Map<number, Promise<void>>();
  #kept: KeptPost[] = [];
  #counts = { ...NOTHING };
  /** Chains of POSTs that are in flight or wait for a slot, and not for another attempt. */
  #due = 0;
  #waiting: { isOver: () => boolean; tell: () => void }[] = [];
  /** Aborted when all is forgotten; a closed sender keeps an aborted one. */
  #ending = createEnding();

  /** `retryScale` is the factor of all delays between attempts: 1 is the service's own, tests use less. */
  constructor(clock: Clock, retryScale: number, deliversOutside: boolean) {
    this.#clock = clock;
    this.#retryScale = retryScale;
    this.#deliversOutside = deliversOutside;
    this.#agent = new Agent({
      connections: MAX_IN_FLIGHT,
      connect: { timeout: TIMEOUT_MS, ...(deliversOutside ? {} : { lookup: lookUpOnThisMachine }) },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  }

  get counts(): WebhookCounts {
    return { ...this.#counts };
  }

  /** The last of those that were not delivered because their address is outside of this machine, the newest last. */
  get kept(): readonly KeptPost[] {
    return this.#kept.slice(-MAX_KEPT);
  }

  send(posting: Posting): void {
    const { signal } = this.#ending;
    if (signal.aborted) return;
    if (!this.#deliversOutside && !isOnThisMachine(posting.url)) {
      this.#keep(posting);
      return;
    }
    this.#counts.pending += posting.posts.length;
    const { lane } = posting;
    const waiting = lane === undefined ? undefined : this.#lanes.get(lane);
    if (waiting !== undefined) waiting.push(posting);
    else {
      if (lane !== undefined) this.#lanes.set(lane, []);
      void this.#deliver(posting, signal);
    }
  }

  /** Calls back after that time, unless everything is cleared or closed before. */
  later(delayMs: number, action: () => void): void {
    const { signal } = this.#ending;
    void this.#clock.sleep(delayMs, signal).then(() => {
      if (!signal.aborted) action();
    });
  }

  /** Resolves when nothing is pending. */
  settle(): Promise<void> {
    return this.#until(() => this.#counts.pending === 0);
  }

  /** Resolves when no POST is in flight or due; does not wait for later attempts. */
  rest(): Promise<void> {
    return this.#until(() => this.#due === 0);
  }

  /** Forgets everything that has not been delivered, and counts from 0. What is on its way at this moment may still arrive. */
  clear(): void {
    this.#ending.abort();
    this.#ending = createEnding();
    this.#lanes.clear();
    this.#waits.clear();
    this.#kept = [];
    this.#counts = { ...NOTHING };
    this.#tellWaiting();
  }

  /** Ends all connections; undelivered posts are dropped. */
  async close(): Promise<void> {
    this.clear();
    this.#ending.abort();
    await this.#agent.destroy();
  }

  #keep({ url, posts }: Posting): void {
    const at = new Date(this.#clock.now()).toISOString();
    for (const build of posts) {
      this.#kept.push({ at, url, reason: 'not delivered, outside of this machine', body: build(0).body });
    }
    this.#counts.outside += posts.length;
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT);
  }

  /** One POST after the other, each until it was answered 2xx or is given up, to the end of the lane. */
  async #deliver(first: Posting, signal: AbortSignal): Promise<void> {
    this.#due += 1;
    for (let posting: Posting | undefined = first; posting !== undefined; posting = this.#next(posting, signal)) {
      for (let place = 0, attempt = 0; place < posting.posts.length; ) {
        const isTaken = await this.#inSlot(this.#attempt, posting, place, attempt, signal);
        if (signal.aborted) break;
        attempt += 1;
        const delayMs = isTaken ? undefined : posting.retryDelayMs(attempt);
        if (!isTaken) this.#counts.failedAttempts += 1;
        if (delayMs === undefined) {
          this.#counts[isTaken ? 'delivered' : 'givenUp'] += 1;
          this.#counts.pending -= 1;
          place += 1;
          attempt = 0;
        } else {
          this.#due -= 1;
          this.#tellWaiting();
          await this.#wait(delayMs * this.#retryScale, signal);
          this.#due += 1;
        }
      }
    }
    this.#due -= 1;
    this.#tellWaiting();
  }

  #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    const due = Math.floor((this.#clock.monotonicMs() + delayMs) / SHARED_MS);
    const wait = this.#waits.get(due) ?? this.#clock.sleep(delayMs, signal).then(() => void this.#waits.delete(due));
    this.#waits.set(due, wait);
    return wait;
  }

  #next({ lane }: Posting, signal: AbortSignal): Posting | undefined {
    if (lane === undefined || signal.aborted) return undefined;
    const next = this.#lanes.get(lane)?.shift();
    if (next === undefined) this.#lanes.delete(lane);
    return next;
  }

  /** Whether it was answered 2xx. */
  readonly #attempt = async ({ url, posts }: Posting, place: number, attempt: number, signal: AbortSignal) => {
    const post = signal.aborted ? undefined : posts[place]?.(attempt);
    if (post === undefined) return false;
    try {
      const answer = await request(url, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...post.headers },
        body: JSON.stringify(post.body),
      });
      await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
      return answer.statusCode >= 200 && answer.statusCode < 300;
    } catch {
      return false;
    }
  };

  async #until(isOver: () => boolean): Promise<void> {
    if (!isOver()) await new Promise<void>((tell) => this.#waiting.push({ isOver, tell }));
  }

  #tellWaiting(): void {
    if (this.#waiting.length === 0) return;
    const over = this.#waiting.filter(({ isOver }) => isOver());
    this.#waiting = this.#waiting.filter((one) => !over.includes(one));
    for (const { tell } of over) tell();
  }
}

/** Any number of timers may listen to it. */
function createEnding(): AbortController {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  return ending;
}
