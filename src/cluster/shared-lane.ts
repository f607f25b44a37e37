import type { Limits } from '../job/limits.js';
import type { Clock } from '../ports/clock.js';
import { LaneStopped } from '../throttle/gate.js';
import type { Lane, PassGate } from '../throttle/lane.js';
import { LaneSlots } from '../throttle/lane-slots.js';
import { type Cost, Rate } from '../throttle/rate.js';
import { HORIZON_MS, type TurnsAsked } from './lane-rule.js';
import type { LaneStore } from './store.js';

/** A request that leaves later than this, and than its own cost, books another turn. */
const SLACK_MS = 6;
const MAX_COST_SLACK_MS = 40;
/** As many as one call may ask for. */
const MAX_ASKED = 50;
/** Two calls lie so far apart, so that turns come in blocks. */
const BLOCK_MS = 10;
const FIRST_PREPARATION_MS = 10;
const MAX_PREPARATION_MS = 120;
const FORGETTING = 0.05;
/** Around the time after which the store says to ask again, as long before the turn itself. */
const EARLIER_MS = HORIZON_MS * 0.4;
const LATER_MS = HORIZON_MS * 0.1;
const LEAST_SHARE = 1 / 64;
const LEAST_REQUESTS_PER_SECOND = 0.1;

/** When a request may leave, by this process's monotonic clock. */
interface Turn {
  readonly dueMs: number;
  /** At the latest: what is booked behind it stays within the limits. */
  readonly untilMs: number;
}

interface Waiting {
  readonly costMs: number;
  readonly isUrgent: boolean;
  readonly give: (turn: Turn) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * A lane that all processes of a store share (lane-rule.ts). A request goes through it in this order:
 *
 *     slot (p-limit) → a turn is booked → shortly before it the task begins, which makes its intent durable → the gate,
 *     which opens at the turn → the first byte
 *
 * Who comes to the gate too late books another turn; the lost one stays empty.
 */
export function createSharedLane(options: {
  store: LaneStore;
  /** The account and the area. */
  name: string;
  limits: Limits;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  signal: AbortSignal;
}): Lane {
  const { store, name, limits, clock, random, signal } = options;
  const slots = new LaneSlots({ concurrency: limits.concurrency, signal });
  const { stopped } = slots;
  /** Of a lane that nothing slows down: the store knows the share. */
  const rate = new Rate(limits);
  const server = new ServerClock();
  const waiting: Waiting[] = [];
  const said = { slowed: false, succeeded: false, pauseMs: 0 };
  /** As the store last said. */
  let share = 1;
  let isAsking = false;
  /** By an answer that this process got: turns that it has booked already are given up. */
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Nothing is booked before: turns are for processes that reach the service. */
  let awayUntilMs = Number.NEGATIVE_INFINITY;
  let wake = new AbortController();
  let preparationMs = FIRST_PREPARATION_MS;

  const refuseAll = (reason: unknown) => {
    for (const { refuse } of waiting.splice(0)) refuse(reason);
  };

  /** Asks until nobody waits: one call at a time. */
  const ask = async () => {
    wake.abort();
    if (isAsking) return;
    isAsking = true;
    try {
      while ((waiting.length > 0 || said.slowed || said.pauseMs > 0) && !stopped.aborted) {
        const againInMs = await askOnce();
        wake = new AbortController();
        // Not always in the same order: else the first would take every turn.
        const sleepMs = Math.max(BLOCK_MS, againInMs - EARLIER_MS + random() * (EARLIER_MS + LATER_MS));
        if (againInMs > 0 && !stopped.aborted) await clock.sleep(sleepMs, wake.signal);
      }
    } catch (error) {
      refuseAll(stopped.aborted ? new LaneStopped() : error);
    } finally {
      isAsking = false;
      if (stopped.aborted) refuseAll(new LaneStopped());
    }
  };

  const askOnce = async (): Promise<number> => {
    const urgent = waiting.filter(({ isUrgent }) => isUrgent);
    const asking = (urgent.length > 0 ? urgent : waiting).slice(0, MAX_ASKED);
    const asked: TurnsAsked = {
      costsMs: asking.map(({ costMs }) => costMs),
      isUrgent: urgent.length > 0,
      ...said,
      leastShare: Math.min(1, Math.max(LEAST_SHARE, LEAST_REQUESTS_PER_SECOND / limits.requestsPerSecond)),
    };
    Object.assign(said, { slowed: false, succeeded: false, pauseMs: 0 });
    const startMs = clock.monotonicMs();
    const booked = await store.book(name, asked);
    const endMs = clock.monotonicMs();
    server.note(booked.nowMs, startMs, endMs);
    share = booked.share;
    for (const [index, inMs] of booked.inMs.entries()) {
      const one = asking[index];
      if (one === undefined) continue;
      waiting.splice(waiting.indexOf(one), 1);
      const { earliestMs, latestMs } = server.toLocal(booked.nowMs + inMs);
      const slackMs = SLACK_MS + Math.min(one.costMs / booked.share, MAX_COST_SLACK_MS);
      one.give({ dueMs: latestMs, untilMs: earliestMs + slackMs });
    }
    return Math.max(booked.againInMs, waiting.length > 0 ? BLOCK_MS : 0);
  };

  const book = (cost: Cost, isUrgent: boolean): Promise<Turn> =>
    new Promise((give, refuse) => {
      if (stopped.aborted) return refuse(new LaneStopped());
      waiting.push({ costMs: rate.costMs(cost), isUrgent, give, refuse });
      // Others need not ask before the time that the store gave them.
      if (isUrgent || !isAsking) void ask();
    });

  const sleepUntil = async (timeMs: number) => {
    const leftMs = timeMs - clock.monotonicMs();
    if (leftMs > 0) await clock.sleep(leftMs, stopped);
    if (stopped.aborted) throw new LaneStopped();
  };

  const sleepAway = async () => {
    // It may become longer meanwhile.
    while (clock.monotonicMs() < awayUntilMs) await sleepUntil(awayUntilMs);
  };

  const runInSlot = async <T>(cost: Cost, task: (gate: PassGate) => Promise<T>): Promise<T> => {
    await sleepAway();
    let turn: Turn | undefined = await book(cost, false);
    await sleepUntil(turn.dueMs - preparationMs);
    const begunMs = clock.monotonicMs();
    return task(async (preSendCheck) => {
      const tookMs = Math.min(clock.monotonicMs() - begunMs, MAX_PREPARATION_MS);
      if (turn !== undefined) preparationMs += (tookMs - preparationMs) * (tookMs > preparationMs ? 1 : FORGETTING);
      for (;;) {
        if (turn === undefined) await sleepAway();
        turn ??= await book(cost, true);
        await sleepUntil(turn.dueMs);
        await preSendCheck?.();
        const nowMs = clock.monotonicMs();
        const isInTime = nowMs <= turn.untilMs && nowMs >= pausedUntilMs;
        turn = undefined;
        if (isInTime) break;
      }
      // The turn was for bytes that leave at once: those that leave later are given one more.
      return (connectDelayMs) => {
        if (connectDelayMs > SLACK_MS) book(cost, true).catch(() => {});
      };
    });
  };

  stopped.addEventListener('abort', () => {
    wake.abort();
    refuseAll(new LaneStopped());
  });

  return {
    run: (cost, task) => slots.run(() => runInSlot(cost, task)),
    pauseFor: (delayMs, { isOwn } = { isOwn: false }) => {
      const untilMs = clock.monotonicMs() + delayMs;
      pausedUntilMs = Math.max(pausedUntilMs, untilMs);
      if (isOwn) {
        awayUntilMs = Math.max(awayUntilMs, untilMs);
        return;
      }
      said.pauseMs = Math.max(said.pauseMs, delayMs);
      void ask();
    },
    slowDown: () => {
      said.slowed = true;
      void ask();
    },
    noteSuccess: () => {
      said.succeeded = true;
    },
    close: () => slots.close(),
    get share() {
      return share;
    },
  };
}

/** Clocks drift apart by less than this, milliseconds a millisecond: also while one of them is being set slowly. */
const DRIFT = 0.0006;

/**
 * Where moments of the store's clock lie on this process's monotonic clock. A call says that the store's moment lay between
 * its start and its end; the shortest calls say most. Pure.
 */
export class ServerClock {
  /** The store's clock added to it gives the local one: at least, and at most. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #notedMs = 0;

  note(storeMs: number, startMs: number, endMs: number): void {
    const driftMs = Math.max(0, endMs - this.#notedMs) * DRIFT;
    this.#notedMs = endMs;
    this.#least = Math.max(this.#least - driftMs, startMs - storeMs);
    this.#most = Math.min(this.#most + driftMs, endMs - storeMs);
    if (this.#least <= this.#most) return;
    // One of the clocks was set.
    this.#least = startMs - storeMs;
    this.#most = endMs - storeMs;
  }

  toLocal(storeMs: number): { readonly earliestMs: number; readonly latestMs: number } {
    return { earliestMs: storeMs + this.#least, latestMs: storeMs + this.#most };
  }
}
