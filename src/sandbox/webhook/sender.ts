import { setMaxListeners } from 'node:events';
import { Agent, request } from 'undici';
import type { Clock } from '../../ports/clock.js';
import { Fifo } from './fifo.js';
import { type KeptPost, KeptPosts } from './kept-posts.js';
import { lookUpOnThisMachine } from './own-machine.js';
import type { WebhookLane } from './webhook-lane.js';

/** POSTs in flight at once, over all addresses: a receiver must not need a socket per message. */
const MAX_IN_FLIGHT = 16;
/** For a connection, for the headers of an answer, and between two pieces of its body. */
const TIMEOUT_MS = 10_000;
/** Bodies of answers are ignored; a longer one closes its connection. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface WebhookSenderDeps {
  readonly clock: Clock;
  /** Factor of all delays between attempts: 1 is the service's own, tests use less. */
  readonly retryScale: number;
  /** False: what has an address outside of this machine is kept, and no name but localhost is resolved. */
  readonly deliversOutside: boolean;
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

interface Job {
  readonly lane: WebhookLane;
  posts: number;
  attempt: number;
}

interface Parked {
  readonly job: Job;
  /** By the monotonic clock. */
  readonly dueMs: number;
}

const NOTHING = { pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0 };

/**
 * Delivers to webhooks in the background. A lane is ready, in flight, or parked until its next attempt; those parked
 * for the same time stand in one row with one timer, so that 100,000 wait as cheaply as one. Redirects are not
 * followed: any answer but 2xx, and any error of the network, is a failed attempt. Nothing leaves this machine unless
 * configured.
 */
export class WebhookSender {
  readonly #clock: Clock;
  readonly #retryScale: number;
  readonly #agent: Agent;
  /** Undefined where everything is delivered. */
  readonly #kept: KeptPosts | undefined;
  readonly #jobs = new Map<WebhookLane, Job>();
  #ready = new Fifo<Job>();
  #parked = new Map<number, Fifo<Parked>>();
  #inFlight = 0;
  #counts = { ...NOTHING };
  #waiting: (() => void)[] = [];
  #resting: (() => void)[] = [];
  #ending = createEnding();
  #isClosed = false;

  constructor({ clock, retryScale, deliversOutside }: WebhookSenderDeps) {
    this.#clock = clock;
    this.#retryScale = retryScale;
    this.#kept = deliversOutside ? undefined : new KeptPosts(clock);
    this.#agent = new Agent({
      connections: MAX_IN_FLIGHT,
      connect: { timeout: TIMEOUT_MS, ...(deliversOutside ? {} : { lookup: lookUpOnThisMachine }) },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  }

  get counts(): WebhookCounts {
    return { ...this.#counts, outside: this.#kept?.count ?? 0 };
  }

  /** The last of those that were not delivered because their address is outside of this machine. */
  get kept(): readonly KeptPost[] {
    return this.#kept?.list() ?? [];
  }

  /** Adds this many POSTs of the lane. They leave after the earlier ones; none once closed. */
  send(lane: WebhookLane, posts = 1): void {
    if (this.#isClosed || this.#kept?.takes(lane, posts)) return;
    this.#counts.pending += posts;
    const known = this.#jobs.get(lane);
    if (known !== undefined) {
      known.posts += posts;
      return;
    }
    const job: Job = { lane, posts, attempt: 0 };
    this.#jobs.set(lane, job);
    this.#makeReady(job);
  }

  /** Calls back after that time, unless everything is cleared or closed before. */
  later(delayMs: number, action: () => void): void {
    const { signal } = this.#ending;
    void this.#clock.sleep(delayMs, signal).then(() => {
      if (!signal.aborted) action();
    });
  }

  /** Resolves when nothing is pending. */
  async settle(): Promise<void> {
    if (this.#counts.pending > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when no POST is in flight or due; does not wait for later attempts. */
  async rest(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#resting.push(resolve));
  }

  /** Forgets everything that has not been delivered, and counts from 0. What is on its way at this moment may still arrive. */
  clear(): void {
    this.#ending.abort();
    this.#ending = createEnding();
    this.#jobs.clear();
    this.#ready = new Fifo();
    this.#parked = new Map();
    this.#counts = { ...NOTHING };
    this.#kept?.clear();
    this.#notifyIdle();
  }

  /** Ends all connections; undelivered posts are dropped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.clear();
    this.#ending.abort();
    await this.#agent.destroy();
  }

  #makeReady(job: Job): void {
    this.#ready.push(job);
    while (this.#inFlight < MAX_IN_FLIGHT) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      void this.#serve(next);
    }
  }

  async #serve(first: Job): Promise<void> {
    this.#inFlight += 1;
    for (let job: Job | undefined = first; job !== undefined; job = this.#ready.shift()) {
      const isTaken = await this.#post(job);
      // Cleared while it was on its way.
      if (this.#jobs.get(job.lane) === job) this.#conclude(job, isTaken);
    }
    this.#inFlight -= 1;
    if (this.#inFlight > 0) return;
    for (const tell of this.#resting.splice(0)) tell();
  }

  async #post({ lane, attempt }: Job): Promise<boolean> {
    const { headers, body } = lane.build(attempt);
    try {
      const answer = await request(lane.url, {
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

  #conclude(job: Job, isTaken: boolean): void {
    if (!isTaken) {
      this.#counts.failedAttempts += 1;
      const delayMs = job.lane.retryDelayMs(job.attempt + 1);
      if (delayMs !== undefined) {
        job.attempt += 1;
        this.#park(job, delayMs * this.#retryScale);
        return;
      }
    }
    this.#counts[isTaken ? 'delivered' : 'givenUp'] += 1;
    this.#counts.pending -= 1;
    job.lane.advance();
    job.attempt = 0;
    job.posts -= 1;
    if (job.posts > 0) this.#ready.push(job);
    else this.#jobs.delete(job.lane);
    if (this.#counts.pending === 0) this.#notifyIdle();
  }

  #park(job: Job, delayMs: number): void {
    const parked: Parked = { job, dueMs: this.#clock.monotonicMs() + delayMs };
    const row = this.#parked.get(delayMs);
    if (row !== undefined) {
      row.push(parked);
      return;
    }
    const newRow = new Fifo<Parked>();
    newRow.push(parked);
    this.#parked.set(delayMs, newRow);
    void this.#release(newRow, delayMs);
  }

  /** All of a row wait equally long, so they fall due in the order in which they came. */
  async #release(row: Fifo<Parked>, delayMs: number): Promise<void> {
    const { signal } = this.#ending;
    for (let parked = row.shift(); parked !== undefined; parked = row.shift()) {
      const waitMs = parked.dueMs - this.#clock.monotonicMs();
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      this.#makeReady(parked.job);
    }
    this.#parked.delete(delayMs);
  }

  #notifyIdle(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }
}

/** Any number of timers may listen to it. */
function createEnding(): AbortController {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  return ending;
}
