import type { Limits } from '../job/limits.js';
import type { Clock } from '../ports/clock.js';
import { LaneSlots, LaneStopped, type PreSendCheck } from '../throttle/gate.js';
import type { Lane, PassGate } from '../throttle/lane.js';
import { type Cost, leastShareOf, Rate } from '../throttle/rate.js';
import { type LaneReach, LaneWatch } from './lane-watch.js';
import type { BookedTurns, LaneStore, TurnsAsked } from './store.js';

/** How late a request comes to its turn, for timers and a busy processor. */
const LATENESS_MS = { least: 6, most: 400, falling: 0.02 };
/** How long it takes from its begin to the gate. It falls slowly: an intent that waits for the call before takes twice as long as others. */
const PREPARATION_MS = { least: 2, most: 1_000, falling: 0.005 };
/** How much longer a call takes than the shortest one. */
const DELAY_MS = { least: 0, most: 1_000, falling: 0.02 };
const RISING = 0.5;
/** As many as one call may ask for. */
const MAX_ASKED = 500;
/** Two calls lie so far apart, so that turns come in blocks. */
const BLOCK_MS = 10;
/**
 * When to ask again is drawn anew each time: at the latest so long after the time that the store says, or sooner than that, by up to
 * `SOONER_MS` and the time of an answer.
 */
const LATER_MS = 15;
const SOONER_MS = 75;

/** When a request may leave, by this process's monotonic clock. */
interface Turn {
  readonly dueMs: number;
  /** The latest time: until then what is booked behind it stays within the limits. It may be past already. */
  readonly untilMs: number;
}

interface Waiting {
  readonly costMs: number;
  readonly isUrgent: boolean;
  readonly give: (turn: Turn) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * A lane that all processes of a store share (postgres/schema/lane-functions.ts). A request goes through it in this order:
 *
 *     slot (p-limit) → a turn is booked → shortly before it the task begins, which makes its intent durable → the gate,
 *     which opens at the turn → the first byte
 *
 * A turn is a moment of the store's clock, which lies between two moments of this process's: a request leaves after the later
 * one, and before the slack of the lane is over, counted from the earlier one. So the slack that a process asks for is how far they lie
 * apart, which is about the shortest way to the store and back, and how late it may come. Who comes later books another
 * turn; the lost one stays empty.
 */
export function createSharedLane(options: {
  store: LaneStore;
  /** The account and the area. */
  name: string;
  /** The store's clock as this process knows it, whatever the lane. */
  server: ServerClock;
  limits: Limits;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  signal: AbortSignal;
  /** Requests that miss their turns for so long end with a `ServiceError`. */
  giveUpAfterMs: number;
  /** How much of the limit can be used, and why no more. */
  onReach: (said: string) => void;
}): Lane {
  const { store, name, server, limits, clock, random, signal } = options;
  const watch = new LaneWatch(options.giveUpAfterMs);
  const slots = new LaneSlots({ concurrency: limits.concurrency, signal });
  const { stopped } = slots;
  /** The rate of the lane if nothing slows it down: the store knows the share. */
  const rate = new Rate(limits);
  const waiting: Waiting[] = [];
  const said = { slowed: false, succeeded: false, pauseMs: 0 };
  let share = 1;
  let isAsking = false;
  /** Set by an answer that this process got: turns that it has booked already are given up. */
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Nothing is booked before this: turns are for processes that reach the service. */
  let awayUntilMs = Number.NEGATIVE_INFINITY;
  let wake = new AbortController();
  /** When to ask for turns that are not urgent: to ask before would bring no earlier turn. */
  let askAtMs = Number.NEGATIVE_INFINITY;
  let preparationMs = 10;
  let latenessMs = LATENESS_MS.least;
  /** How much longer calls take than the shortest one. */
  let delayMs = 0;
  let answerMs = 0;

  const refuseAll = (reason: unknown) => {
    for (const { refuse } of waiting.splice(0)) refuse(reason);
  };

  /** Asks until nobody waits: one call at a time. */
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      while ((waiting.length > 0 || said.slowed || said.pauseMs > 0) && !stopped.aborted) {
        const restMs = askAtMs - clock.monotonicMs();
        if (restMs > 0) await clock.sleep(restMs, wake.signal);
        // Before the call: what comes meanwhile is not to wait for its answer's time.
        wake = new AbortController();
        if (!stopped.aborted) await askOnce();
      }
    } catch (error) {
      refuseAll(stopped.aborted ? new LaneStopped() : error);
    } finally {
      isAsking = false;
      if (stopped.aborted) refuseAll(new LaneStopped());
    }
  };

  const askAtOnce = () => {
    wake.abort();
    void ask();
  };

  const giveTurns = (asking: readonly Waiting[], booked: BookedTurns) => {
    for (const [index, inMs] of booked.inMs.entries()) {
      const one = asking[index];
      if (one === undefined) continue;
      waiting.splice(waiting.indexOf(one), 1);
      const { earliestMs, latestMs } = server.toLocal(booked.nowMs + inMs);
      one.give({ dueMs: latestMs, untilMs: earliestMs + booked.slackMs });
    }
  };

  const noteReach = (reach: LaneReach) => {
    const reached = watch.noteReach(clock.monotonicMs(), reach);
    if (reached !== undefined) options.onReach(reached);
  };

  const askOnce = async () => {
    const startMs = clock.monotonicMs();
    // Nothing is booked before the clock is known: no one could say when the turn is.
    const isKnown = server.isKnown(startMs);
    const uncertaintyMs = isKnown ? server.uncertaintyMs(startMs) : 0;
    const asking = isKnown
      ? waiting.toSorted((one, other) => Number(other.isUrgent) - Number(one.isUrgent)).slice(0, MAX_ASKED)
      : [];
    const asked: TurnsAsked = {
      costsMs: asking.map(({ costMs }) => costMs),
      urgent: asking.filter(({ isUrgent }) => isUrgent).length,
      slackMs: isKnown ? uncertaintyMs + latenessMs : 0,
      leadMs: delayMs + preparationMs,
      ...said,
      leastShare: leastShareOf(limits),
    };
    Object.assign(said, { slowed: false, succeeded: false, pauseMs: 0 });
    const booked = await store.book(name, asked);
    const endMs = clock.monotonicMs();
    answerMs = endMs - startMs;
    server.note(booked.nowMs, startMs, endMs);
    // An intent takes a call, too, and may wait for the one before.
    if (!isKnown && server.isKnown(endMs)) preparationMs = Math.max(preparationMs, 2 * server.uncertaintyMs(endMs));
    share = booked.share;
    delayMs = follow(delayMs, endMs - server.toLocal(booked.nowMs).latestMs, DELAY_MS);
    giveTurns(asking, booked);
    if (isKnown) noteReach({ uncertaintyMs, latenessMs, slackMs: booked.slackMs });
    // Who comes next has its turn behind those that are booked: together with others, if the last of them is not near.
    const lastInMs = (booked.inMs.at(-1) ?? 0) - asked.leadMs - answerMs - latenessMs;
    // Drawn, so that processes do not always ask in the same order: the first would take every turn.
    const againInMs = booked.againInMs + LATER_MS - random() * (SOONER_MS + answerMs);
    // From the start: the next call takes as long to come there.
    askAtMs = Math.max(endMs + BLOCK_MS, startMs + (booked.againInMs > 0 ? againInMs : lastInMs));
  };

  const book = (cost: Cost, isUrgent: boolean): Promise<Turn> =>
    new Promise((give, refuse) => {
      if (stopped.aborted) return refuse(new LaneStopped());
      waiting.push({ costMs: rate.costMs(cost), isUrgent, give, refuse });
      if (isUrgent) askAtOnce();
      else void ask();
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

  /** Waits for the turn, and says whether the request may leave now. */
  const awaitTurn = async ({ dueMs, untilMs }: Turn, preSendCheck: PreSendCheck | undefined) => {
    const soonMs = dueMs - preparationMs;
    if (clock.monotonicMs() < soonMs) {
      // What the check asks the store for, it then has at the turn: each turn of a slow lane would be over when the answer is there.
      await sleepUntil(soonMs);
      await preSendCheck?.();
    }
    const isEarly = clock.monotonicMs() <= dueMs;
    await sleepUntil(dueMs);
    await preSendCheck?.();
    const nowMs = clock.monotonicMs();
    if (isEarly) latenessMs = follow(latenessMs, nowMs - dueMs, LATENESS_MS);
    if (nowMs < pausedUntilMs) return false;
    watch.noteTurn(nowMs, nowMs <= untilMs);
    return nowMs <= untilMs;
  };

  const runInSlot = async <T>(cost: Cost, task: (gate: PassGate) => Promise<T>): Promise<T> => {
    await sleepAway();
    let first: Turn | undefined = await book(cost, false);
    await sleepUntil(first.dueMs - preparationMs);
    const begunMs = clock.monotonicMs();
    return task(async (preSendCheck) => {
      let turn = first ?? (await book(cost, true));
      if (first !== undefined) preparationMs = follow(preparationMs, clock.monotonicMs() - begunMs, PREPARATION_MS);
      first = undefined;
      while (!(await awaitTurn(turn, preSendCheck))) {
        await sleepAway();
        turn = await book(cost, true);
      }
      const { untilMs } = turn;
      // The turn was for bytes that leave at once: those that leave later are given one more.
      return () => {
        if (clock.monotonicMs() > untilMs) book(cost, true).catch(() => {});
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
      askAtOnce();
    },
    slowDown: () => {
      said.slowed = true;
      askAtOnce();
    },
    noteSuccess: () => {
      said.succeeded = true;
    },
    close: () => slots.close(),
    get share() {
      return share * watch.share;
    },
    get pausedMs() {
      return pausedUntilMs - clock.monotonicMs();
    },
  };
}

/** What is rarely exceeded: it rises soon, and falls slowly. */
function follow(
  followedMs: number,
  nextMs: number,
  { least, most, falling }: { least: number; most: number; falling: number },
): number {
  const followed = followedMs + (nextMs - followedMs) * (nextMs > followedMs ? RISING : falling);
  return Math.min(most, Math.max(least, followed));
}

/** Clocks drift apart by less than this, milliseconds a millisecond: also while one of them is being set slowly. */
const DRIFT = 0.0006;
/** They drift apart by 6 ms within it. */
const FRESH_MS = 5_000;
const NEEDED_NOTES = 3;

/**
 * Where moments of the store's clock lie on this process's monotonic clock. A call says that the store's moment lay between
 * its start and its end; the shortest calls say most. Pure.
 */
export class ServerClock {
  /** The store's clock added to it gives the local one: at least, and at most. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #notedMs = 0;
  #notes = 0;

  note(storeMs: number, startMs: number, endMs: number): void {
    const driftMs = Math.max(0, endMs - this.#notedMs) * DRIFT;
    this.#notedMs = endMs;
    this.#notes += 1;
    this.#least = Math.max(this.#least - driftMs, startMs - storeMs);
    this.#most = Math.min(this.#most + driftMs, endMs - storeMs);
    if (this.#least <= this.#most) return;
    // One of the clocks was set.
    this.#least = startMs - storeMs;
    this.#most = endMs - storeMs;
  }

  /** Whether a few calls have shown the clock, one of them of late: the first may have opened a connection. */
  isKnown(nowMs: number): boolean {
    return this.#notes >= NEEDED_NOTES && nowMs - this.#notedMs < FRESH_MS;
  }

  /** How far the two lie apart now; infinite before the first call. */
  uncertaintyMs(nowMs: number): number {
    return this.#most - this.#least + 2 * Math.max(0, nowMs - this.#notedMs) * DRIFT;
  }

  toLocal(storeMs: number): { readonly earliestMs: number; readonly latestMs: number } {
    return { earliestMs: storeMs + this.#least, latestMs: storeMs + this.#most };
  }
}
