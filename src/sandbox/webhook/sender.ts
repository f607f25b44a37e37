import { EventEmitter, once, setMaxListeners } from 'node:events';
import { Agent, request } from 'undici';
import { isOnThisMachine } from '../../domain/loopback.js';
import type { Clock } from '../../ports/clock.js';

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
  /** Beside content-type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Becomes JSON. */
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

/** POSTs that are still to be delivered: plain, since 100,000 of these may wait. */
interface Posting {
  readonly kind: PostKind<unknown>;
  readonly url: string;
  readonly facts: unknown;
  readonly lane: string | undefined;
  place: number;
  attempt: number;
  since: string;
}

/** How many POSTs came to what. */
const NOTHING = {
  /** On their way, waiting for their turn or for another attempt. */
  pending: 0,
  /** Answered 2xx. */
  delivered: 0,
  givenUp: 0,
  /** Attempts that were not answered 2xx. */
  failedAttempts: 0,
  /** For an address outside of this machine: never tried. */
  outside: 0,
};

/**
 * Delivers to webhooks in the background: due → in flight → delivered, given up, or waiting for another attempt and then
 * due again. A posting whose lane is taken waits behind it. Redirects are not followed: any answer but 2xx, and any error
 * of the network, is a failed attempt. Nothing leaves this machine unless configured.
 */
export class WebhookSender {
  readonly #clock: Clock;
  readonly #retryScale: number;
  readonly #deliversOutside: boolean;
  readonly #agent: Agent;
  /** In the order of their turns, of which those before `#turn` are over. */
  #due: (Posting | undefined)[] = [];
  #turn = 0;
  #inFlight = 0;
  /** Of each lane that is under way, what waits behind. */
  readonly #lanes = new Map<string, Posting[]>();
  /** What waits for another attempt, by when it is due. */
  readonly #waits = new Map<number, Posting[]>();
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
    const posting = { kind: kind as PostKind<unknown>, url, facts, lane, place: 0, attempt: 0, since: '' };
    this.#counts.pending += kind.count;
    const waiting = lane === undefined ? undefined : this.#lanes.get(lane);
    if (waiting !== undefined) {
      waiting.push(posting);
      return;
    }
    if (lane !== undefined) this.#lanes.set(lane, []);
    this.#enqueue([posting]);
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
    return this.#until(() => this.#inFlight === 0 && this.#due.length === 0);
  }

  /** Forgets everything that has not been delivered, and counts from 0. What is on its way at this moment may still arrive. */
  clear(): void {
    this.#ending.abort();
    this.#ending = createEnding();
    this.#due = [];
    this.#turn = 0;
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

  #enqueue(postings: readonly Posting[]): void {
    for (const posting of postings) this.#due.push(posting);
    while (this.#inFlight < MAX_IN_FLIGHT && this.#due.length > 0) {
      const next = this.#due[this.#turn] as Posting;
      this.#due[this.#turn++] = undefined;
      if (this.#turn === this.#due.length) {
        this.#due = [];
        this.#turn = 0;
      }
      void this.#deliver(next, this.#ending.signal);
    }
  }

  /** One attempt, and what follows from it. */
  async #deliver(posting: Posting, signal: AbortSignal): Promise<void> {
    this.#inFlight += 1;
    const isTaken = await this.#attempt(posting);
    this.#inFlight -= 1;
    this.#enqueue(signal.aborted ? [] : this.#settleAttempt(posting, isTaken));
    this.#changes.emit('change');
  }

  /** What is due next of its lane. */
  #settleAttempt(posting: Posting, isTaken: boolean): readonly Posting[] {
    posting.attempt += 1;
    if (!isTaken) {
      this.#counts.failedAttempts += 1;
      const delayMs = posting.kind.retryDelayMs(posting.attempt);
      if (delayMs !== undefined) {
        this.#wait(posting, delayMs * this.#retryScale);
        return [];
      }
    }
    this.#counts[isTaken ? 'delivered' : 'givenUp'] += 1;
    this.#counts.pending -= 1;
    posting.place += 1;
    posting.attempt = 0;
    if (posting.place < posting.kind.count) return [posting];
    if (posting.lane === undefined) return [];
    const next = this.#lanes.get(posting.lane)?.shift();
    if (next === undefined) this.#lanes.delete(posting.lane);
    return next === undefined ? [] : [next];
  }

  #wait(posting: Posting, delayMs: number): void {
    const due = Math.floor((this.#clock.monotonicMs() + delayMs) / SHARED_MS);
    const others = this.#waits.get(due);
    if (others !== undefined) {
      others.push(posting);
      return;
    }
    const postings = [posting];
    this.#waits.set(due, postings);
    this.later(delayMs, () => {
      this.#waits.delete(due);
      this.#enqueue(postings);
    });
  }

  /** Whether it was answered 2xx. */
  async #attempt(posting: Posting): Promise<boolean> {
    const { kind, url, facts, place, attempt } = posting;
    if (attempt === 0) posting.since = new Date(this.#clock.now()).toISOString();
    const { headers, body } = kind.build(facts, place, attempt, posting.since);
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

  async #until(isOver: () => boolean): Promise<void> {
    while (!isOver()) await once(this.#changes, 'change');
  }
}

/** Any number of timers may listen to it. */
function createEnding(): AbortController {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  return ending;
}
