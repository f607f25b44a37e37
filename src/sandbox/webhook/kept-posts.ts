import type { Clock } from '../../ports/clock.js';
import { isOnThisMachine } from './own-machine.js';
import type { WebhookLane } from './webhook-lane.js';

/** A POST that was not delivered, as `/_sandbox/webhooks/outside` shows it. */
export interface KeptPost {
  /** When it would have left, ISO 8601. */
  readonly at: string;
  readonly url: string;
  readonly reason: typeof OUTSIDE;
  readonly body: unknown;
}

const OUTSIDE = 'not delivered, outside of this machine';
/** The last ones: receipts of 100,000 messages would fill the memory. */
const MAX_KEPT = 1000;

/** Posts to addresses outside this machine: counted, and the last ones kept for inspection. */
export class KeptPosts {
  readonly #clock: Clock;
  #posts: KeptPost[] = [];
  #count = 0;
  /** A batch has one address as a rule. */
  #last = { url: '', isOutside: false };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  /** The newest last. */
  list(): readonly KeptPost[] {
    return this.#posts.slice(-MAX_KEPT);
  }

  /** Takes this many POSTs of a lane; false if their address is on this machine and they are to be delivered. */
  takes(lane: WebhookLane, posts: number): boolean {
    const { url } = lane;
    if (url !== this.#last.url) this.#last = { url, isOutside: !isOnThisMachine(url) };
    if (!this.#last.isOutside) return false;
    const at = new Date(this.#clock.now()).toISOString();
    for (let post = 0; post < posts; post += 1) {
      this.#posts.push({ at, url, reason: OUTSIDE, body: lane.build(0).body });
      lane.advance();
    }
    this.#count += posts;
    if (this.#posts.length >= 2 * MAX_KEPT) this.#posts = this.#posts.slice(-MAX_KEPT);
    return true;
  }

  clear(): void {
    this.#posts = [];
    this.#count = 0;
  }
}
