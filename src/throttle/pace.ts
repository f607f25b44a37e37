import Bottleneck from 'bottleneck';
import type { Clock } from '../clock.js';
import { MAX_SLEEP_MS } from './gate.js';
import { LaneStopped } from './lane-stopped.js';
import type { Cost, Rate } from './rate.js';
import type { Timeline } from './timeline.js';

/**
 * Lets tasks begin a little before their turn at the gate, so that a task that must first make its intent durable comes in
 * time, and no intent stands open for longer than that.
 * - A task begins at most `lead` before its turn. `lead` follows the time that tasks lately took from beginning to gate.
 * - Its turn is the next one of the timeline, plus the cost of those that have begun and have not passed.
 * - One that need not wait begins at once. Those that wait are let go in blocks, one bottleneck job each, 10 ms apart at
 *   least: bottleneck runs 443 jobs a second at most, whatever the rate. When nobody waits there is no job, and no timer.
 */
const BLOCK_MS = 10;
/** What a timer may be late, and bottleneck takes for a job. */
const SLACK_MS = 5;
/** Before the first task has shown it: an fsync of a local disk. */
const FIRST_PREPARATION_MS = 5;
/** A disk that hangs must not make the whole queue begin. */
const MAX_PREPARATION_MS = 500;
/** How fast `lead` forgets a slow task, for each that is faster. */
const FORGETTING = 0.05;
/** bottleneck waits on the wall clock; when that was set back, its next job would come hours late. */
const STALLED_MS = 1000;

/** A task that has begun. */
export interface Begun {
  readonly costMs: number;
  readonly askedMs: number;
  readonly atMs: number;
}

interface Waiting {
  readonly cost: Cost;
  readonly askedMs: number;
  readonly begin: (begun: Begun) => void;
  readonly refuse: (reason: LaneStopped) => void;
}

export class Pace {
  readonly #clock: Clock;
  readonly #timeline: Timeline;
  readonly #rate: Rate;
  readonly #signal: AbortSignal;
  readonly #queue: Waiting[] = [];
  #limiter = new Bottleneck({ minTime: BLOCK_MS });
  #isBeating = false;
  /** Cost of the tasks that have begun and have not passed the gate. */
  #begunMs = 0;
  #preparationMs = FIRST_PREPARATION_MS;

  constructor(deps: { clock: Clock; timeline: Timeline; rate: Rate; signal: AbortSignal }) {
    this.#clock = deps.clock;
    this.#timeline = deps.timeline;
    this.#rate = deps.rate;
    this.#signal = deps.signal;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Resolves when a task of this cost may begin, in the order of the calls; rejects with LaneStopped when it no longer may. */
  enter(cost: Cost): Promise<Begun> {
    return new Promise((begin, refuse) => {
      const waiting = { cost, askedMs: this.#clock.monotonicMs(), begin, refuse };
      if (this.#signal.aborted) refuse(new LaneStopped());
      else if (this.#queue.length === 0 && this.#waitMs() <= 0) this.#begin(waiting);
      else {
        this.#queue.push(waiting);
        if (!this.#isBeating) void this.#beat();
      }
    });
  }

  /** To be called when a task that has begun comes to the gate. */
  noteReady(begun: Begun): void {
    const tookMs = Math.min(this.#clock.monotonicMs() - begun.atMs, MAX_PREPARATION_MS);
    const isSlower = tookMs > this.#preparationMs;
    this.#preparationMs += (tookMs - this.#preparationMs) * (isSlower ? 1 : FORGETTING);
  }

  /** To be called once for each task that has begun: when it has passed the gate, or ended without. */
  leave(begun: Begun): void {
    this.#begunMs -= begun.costMs;
  }

  #begin({ cost, askedMs, begin }: Waiting): void {
    const costMs = this.#rate.costMs(cost);
    this.#begunMs += costMs;
    begin({ costMs, askedMs, atMs: this.#clock.monotonicMs() });
  }

  /** How long the next task has to wait; zero or less when it may begin. */
  #waitMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const turnMs = Math.max(this.#timeline.nextMs(nowMs), nowMs) + this.#begunMs;
    return turnMs - nowMs - (this.#preparationMs + BLOCK_MS + SLACK_MS);
  }

  async #beat(): Promise<void> {
    this.#isBeating = true;
    while (this.#queue.length > 0 && !this.#signal.aborted) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) await this.#clock.sleep(Math.min(waitMs, MAX_SLEEP_MS), this.#signal);
      else {
        await this.#awaitBlock();
        this.#beginDue();
      }
    }
    this.#isBeating = false;
    if (this.#signal.aborted) for (const { refuse } of this.#queue.splice(0)) refuse(new LaneStopped());
  }

  #beginDue(): void {
    while (!this.#signal.aborted && this.#waitMs() <= 0) {
      const waiting = this.#queue.shift();
      if (waiting === undefined) return;
      this.#begin(waiting);
    }
  }

  async #awaitBlock(): Promise<void> {
    const started = new AbortController();
    // A job is dropped, and rejects, only where its limiter is given up below.
    this.#limiter.schedule(async () => started.abort()).catch(() => undefined);
    await this.#clock.sleep(STALLED_MS, started.signal);
    if (started.signal.aborted) return;
    void this.#limiter.stop();
    this.#limiter = new Bottleneck({ minTime: BLOCK_MS });
  }
}
