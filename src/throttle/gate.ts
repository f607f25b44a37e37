import type { Clock } from '../ports/clock.js';
import type { Cost, Rate } from './rate.js';
import type { SlidingSecond } from './sliding-second.js';

/** Longest sleep before a wait is computed again, since limits and pauses may change. */
export const MAX_SLEEP_MS = 250;

/** Microtask turns for a request to leave before the clock is read for the next one. */
const TURNS_TO_LEAVE = 8;

/** Runs right before a request leaves; if it rejects, the request does not leave. */
export type PreSendCheck = () => Promise<void>;

interface Waiting {
  readonly cost: Cost;
  readonly askedMs: number;
  readonly preSendCheck: PreSendCheck | undefined;
  readonly pass: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** The last stage before the network: releases requests in order of arrival, each at its turn. */
export class Gate {
  readonly #clock: Clock;
  readonly #slidingSecond: SlidingSecond;
  readonly #rate: Rate;
  readonly #signal: AbortSignal;
  readonly #queue: Waiting[] = [];
  #isPumping = false;

  constructor(deps: { clock: Clock; slidingSecond: SlidingSecond; rate: Rate; signal: AbortSignal }) {
    this.#clock = deps.clock;
    this.#slidingSecond = deps.slidingSecond;
    this.#rate = deps.rate;
    this.#signal = deps.signal;
  }

  /**
   * Resolves at the moment at which the request, asked for since `askedMs`, may leave; rejects with LaneStopped when
   * it no longer may. `preSendCheck` is called at its turn, before the clock is read for it: however long it takes,
   * the rate holds. One check covers all requests that waited when it began and pass right behind it, so all checks of
   * a lane must be equivalent.
   */
  pass(cost: Cost, askedMs: number, preSendCheck?: PreSendCheck): Promise<void> {
    return new Promise((pass, refuse) => {
      this.#queue.push({ cost, askedMs, preSendCheck, pass, refuse });
      if (!this.#isPumping) void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    /** Requests at the head of the queue that the last check covers: they waited when it began, with no sleep since. */
    let checkedFor = 0;
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      const nowMs = this.#clock.monotonicMs();
      const waitMs = this.#slidingSecond.nextMs(nowMs) - nowMs;
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
        this.#slidingSecond.pass(nowMs, head.askedMs, this.#rate.costMs(head.cost));
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

/**
 * How a wait ends in a lane that was stopped: nothing of the request has been sent. Not a failure, and none of the
 * three kinds of error: the code that stopped the lane catches it.
 */
export class LaneStopped extends Error {
  override readonly name = 'LaneStopped';

  constructor() {
    super('The lane was stopped; the request was not sent');
  }
}
