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

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/**
 * Delivers to webhooks in the background. Redirects are not followed: any answer but 2xx, and any error of the network, is a
 * failed attempt. Nothing leaves this machine unless configured. `retryScale` is the factor of all delays between attempts: 1 is the service's
 * own, tests use less.
 */
export function createWebhookSender(clock: Clock, retryScale: number, deliversOutside: boolean) {
  const agent = new Agent({
    connections: MAX_IN_FLIGHT,
    connect: { timeout: TIMEOUT_MS },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const limit = pLimit(MAX_IN_FLIGHT);
  /** By lane: resolves when what was sent in it last is over. */
  const lanes = new Map<string, Promise<void>>();
  /** What waits for another attempt, by when it is due. */
  const waits = new Map<number, Promise<void>>();
  let counts = { ...NOTHING };
  const changes = new EventEmitter().setMaxListeners(0);
  /** Aborted when all is forgotten; a closed sender keeps an aborted one. */
  let ending = createEnding();

  /** What has a lane leaves after all that was sent in it before; what has none waits for no other. */
  function send<Facts>(kind: PostKind<Facts>, url: string, facts: Facts, lane?: string): void {
    if (ending.signal.aborted) return;
    if (!deliversOutside && !isOnThisMachine(url)) {
      counts.outside += kind.count;
      return;
    }
    counts.pending += kind.count;
    const before = lane === undefined ? undefined : lanes.get(lane);
    const over = deliver({ kind: kind as PostKind<unknown>, url, facts }, before);
    if (lane === undefined) return;
    lanes.set(lane, over);
    void over.then(() => {
      if (lanes.get(lane) === over) lanes.delete(lane);
    });
  }

  /** Calls back after that time, unless everything is cleared or closed before. */
  function later(delayMs: number, action: () => void): void {
    const { signal } = ending;
    void clock.sleep(delayMs, signal).then(() => {
      if (!signal.aborted) action();
    });
  }

  /** Resolves when no POST is in flight or has its turn; does not wait for later attempts. */
  async function rest(): Promise<void> {
    for (;;) {
      // By the next turn what follows an answer has its turn.
      await setImmediate();
      if (limit.activeCount + limit.pendingCount === 0) return;
      await once(changes, 'change');
    }
  }

  /** Forgets everything that has not been delivered, and counts from 0. What is on its way at this moment may still arrive. */
  function clear(): void {
    ending.abort();
    ending = createEnding();
    lanes.clear();
    waits.clear();
    counts = { ...NOTHING };
    changes.emit('change');
  }

  /** Ends all connections; undelivered posts are dropped. */
  async function close(): Promise<void> {
    clear();
    ending.abort();
    await agent.destroy();
  }

  /** One after another, each until it is taken or given up; `before` is what goes first. */
  async function deliver(posting: Posting, before: Promise<void> | undefined): Promise<void> {
    const { signal } = ending;
    if (before !== undefined) await before;
    for (let place = 0; place < posting.kind.count; place++) {
      const isTaken = await insist(posting, place, signal);
      if (signal.aborted) return;
      counts[isTaken ? 'delivered' : 'givenUp'] += 1;
      counts.pending -= 1;
    }
  }

  /** Tries one POST until it is taken, or given up. */
  async function insist({ kind, url, facts }: Posting, place: number, signal: AbortSignal): Promise<boolean> {
    let since = '';
    for (let attempt = 0; ; attempt++) {
      const delayMs = attempt === 0 ? 0 : kind.retryDelayMs(attempt);
      if (delayMs === undefined) return false;
      if (delayMs > 0) await wait(delayMs * retryScale, signal);
      const isTaken = await limit(() => {
        since ||= new Date(clock.now()).toISOString();
        return signal.aborted ? false : post(url, kind.build(facts, place, attempt, since));
      });
      changes.emit('change');
      if (isTaken || signal.aborted) return isTaken;
      counts.failedAttempts += 1;
    }
  }

  function wait(delayMs: number, signal: AbortSignal): Promise<void> {
    const due = Math.floor((clock.monotonicMs() + delayMs) / SHARED_MS);
    return remember(waits, due, () => clock.sleep(delayMs, signal).finally(() => void waits.delete(due)));
  }

  /** Whether it was answered 2xx. */
  async function post(url: string, { headers, body }: Post): Promise<boolean> {
    try {
      const answer = await request(url, {
        dispatcher: agent,
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

  return {
    ...{ send, later, rest, clear, close },
    get counts(): Readonly<typeof NOTHING> {
      return { ...counts };
    },
  };
}

/** Any number of timers may listen to it. */
function createEnding(): AbortController {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  return ending;
}
