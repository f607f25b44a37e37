import type { Clock } from '../ports/clock.js';
import { LaneStopped } from './lane-stopped.js';
import type { Cost, Rate } from './rate.js';
import type { Timeline } from './timeline.js';

/** A longer wait is looked at again after this time, since limits and pauses change meanwhile. */
export const MAX_SLEEP_MS = 250;

/** Turns of the microtask queue that a request is given to leave, which takes time; the next look at the clock comes after it. */
const TURNS_TO_LEAVE = 8;

/** What a request looks at before it leaves; it stays where this rejects. */
export type PreSendCheck = () => Promise<void>;

interface Waiting {
  readonly cost: Cost;
  readonly askedMs: number;
  readonly preSendCheck: PreSendCheck | undefined;
  readonly pass: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** The last door before the network: lets requests through in the order they come, each at its turn, whatever happened before. */
export class Gate {
  readonly #clock: Clock;
  readonly #timeline: Timeline;
  readonly #rate: Rate;
  readonly #signal: AbortSignal;
  readonly #queue: Waiting[] = [];
  #isPumping = false;

  constructor(deps: { clock: Clock; timeline: Timeline; rate: Rate; signal: AbortSignal }) {
    this.#clock = deps.clock;
    this.#timeline = deps.timeline;
    this.#rate = deps.rate;
    this.#signal = deps.signal;
  }

  /**
   * Resolves at the moment at which the request, asked for since `askedMs`, may leave; rejects with LaneStopped when it no longer may.
   * `preSendCheck` is called when its turn has come, and before the clock is read for it: however long it takes, the rate holds. One
   * look tells for all that waited when it began and pass right behind it, so all of a lane are to look at the same thing.
   */
  pass(cost: Cost, askedMs: number, preSendCheck?: PreSendCheck): Promise<void> {
    return new Promise((pass, refuse) => {
      this.#queue.push({ cost, askedMs, preSendCheck, pass, refuse });
      if (!this.#isPumping) void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    /** Requests at the head of the queue that were there when the last look began, with no sleep since: it tells for them all. */
    let checkedFor = 0;
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      const nowMs = this.#clock.monotonicMs();
      const waitMs = this.#timeline.nextMs(nowMs) - nowMs;
      if (this.#signal.aborted) {
        this.#queue.shift();
        head.refuse(new LaneStopped());
      } else if (waitMs > 0) {
        checkedFor = 0;
        await this.#clock.sleep(Math.min(waitMs, MAX_SLEEP_MS), this.#signal);
      } else if (head.preSendCheck !== undefined && checkedFor === 0) {
        checkedFor = this.#queue.length;
        await head.preSendCheck().catch((reason: unknown) => {
          checkedFor = 0;
          this.#queue.shift();
          head.refuse(reason);
        });
      } else {
        this.#timeline.pass(nowMs, head.askedMs, this.#rate.costMs(head.cost));
        this.#rate.noteSent();
        this.#queue.shift();
        checkedFor = Math.max(0, checkedFor - 1);
        head.pass();
        for (let turn = 0; turn < TURNS_TO_LEAVE; turn++) await undefined;
      }
    }
    this.#isPumping = false;
  }
}
