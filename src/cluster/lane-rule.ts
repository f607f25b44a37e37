import { PERIOD_MS } from '../throttle/sliding-second.js';

/**
 * The turns of a lane that several processes share. Pure; PostgreSQL has the same rule as a function, and a test compares
 * the two.
 *
 * A turn is booked ahead, so that the way to the store and back does not delay it: each turn comes the cost of the one before
 * it later. In any period of `PERIOD_MS`, then, at most one request more leaves than its limit says, as long as none leaves
 * before its turn, or later than its slack (shared-lane.ts).
 *
 * - Turns are booked at most `HORIZON_MS` ahead. Who comes too early learns when to come again: `line` spreads those who
 *   wait over the turns to come, and promises nothing.
 * - `urgent` asks for a turn beyond the horizon: the intent of the request is written already.
 * - After a refusal (`slowed`) turns come half as fast, down to `leastShare`, and success wins back 5 % a second.
 * - A pause holds turns that are not yet booked. It lasts no longer than it was to, whatever the clock does.
 * - In a new life of the server, or where its clock was set back, the last bookings may be lost, and of a new lane nothing is known:
 *   nothing passes for a period, or as long as the first turn costs, where a limit below one a second makes that longer.
 */
export interface LaneRow {
  readonly life: string;
  /** The first turn that is not booked. */
  readonly turnMs: number;
  /** What the last booked one cost: it lies so long before `turnMs`. */
  readonly lastCostMs: number;
  /** Where the line of those who come again ends. */
  readonly lineMs: number;
  readonly share: number;
  readonly slowedAtMs: number;
  readonly succeededAtMs: number;
  readonly pausedUntilMs: number;
  /** How long that pause was to be. */
  readonly pauseMs: number;
}

export interface TurnsAsked {
  /** One for each turn: milliseconds of a lane without slowdown; none to say something alone. */
  readonly costsMs: readonly number[];
  readonly isUrgent: boolean;
  /** The service refused a request for its rate since the last call. */
  readonly slowed: boolean;
  /** The service accepted a request since the last call. */
  readonly succeeded: boolean;
  /** Of the limits: the lowest share. */
  readonly leastShare: number;
  /** The service asks for a pause of this long; 0 for none. */
  readonly pauseMs: number;
}

export interface BookedTurns {
  /** The store's clock at the call. */
  readonly nowMs: number;
  /** From then on; one for each turn that was booked, in order, maybe none. */
  readonly inMs: readonly number[];
  /** When to ask again for those that were not booked. */
  readonly againInMs: number;
  readonly share: number;
  /** Zero when the lane is not paused. */
  readonly pausedForMs: number;
}

export const HORIZON_MS = 150;
/** The line is no longer than this, or one turn: who waits in it may have died, and its turns must not be lost. */
export const MAX_LINE_MS = 250;
/** A last booking so far ahead, without a pause, is none of this clock. */
export const SET_BACK_MS = 60_000;
export const RECOVERY_PER_SECOND = 0.05;
const SECOND_MS = 1000;

/** `firstMs`: what the first turn costs. */
export function newLane(life: string, { nowMs, firstMs }: { nowMs: number; firstMs: number }): LaneRow {
  const turnMs = nowMs + Math.max(PERIOD_MS, firstMs) + HORIZON_MS;
  return {
    life,
    turnMs,
    lastCostMs: firstMs,
    lineMs: turnMs,
    share: 1,
    slowedAtMs: Number.NEGATIVE_INFINITY,
    succeededAtMs: nowMs,
    pausedUntilMs: 0,
    pauseMs: 0,
  };
}

/** `row` undefined: nobody has used the lane. */
export function bookTurns(
  row: LaneRow | undefined,
  ask: TurnsAsked,
  { life, nowMs }: { life: string; nowMs: number },
): { row: LaneRow; booked: BookedTurns } {
  const [firstMs = 0] = ask.costsMs;
  let { turnMs, lastCostMs, lineMs, share, slowedAtMs, succeededAtMs, pausedUntilMs, pauseMs } =
    row ?? newLane(life, { nowMs, firstMs });
  // No longer than asked, where the clock was set back.
  pausedUntilMs = Math.min(pausedUntilMs, nowMs + pauseMs);
  const isSetBack = turnMs - lastCostMs > Math.max(nowMs, pausedUntilMs) + SET_BACK_MS;
  if (row !== undefined && (row.life !== life || isSetBack)) {
    // What was lost is booked before the end of the horizon, and may have cost as much as the last one.
    lastCostMs = Math.max(lastCostMs, firstMs / share);
    turnMs = nowMs + HORIZON_MS + Math.max(PERIOD_MS, lastCostMs);
    lineMs = turnMs;
  }
  if (ask.slowed && Math.abs(nowMs - slowedAtMs) >= SECOND_MS) {
    share = Math.max(share / 2, ask.leastShare);
    slowedAtMs = nowMs;
    succeededAtMs = nowMs;
  } else if (ask.succeeded) {
    // The clock may have been set back.
    const passedMs = Math.max(0, Math.min(nowMs - succeededAtMs, SECOND_MS));
    share = Math.min(1, share + (RECOVERY_PER_SECOND * passedMs) / SECOND_MS);
    succeededAtMs = nowMs;
  }
  if (ask.pauseMs > 0 && nowMs + ask.pauseMs > pausedUntilMs) {
    pausedUntilMs = nowMs + ask.pauseMs;
    pauseMs = ask.pauseMs;
  }
  const inMs: number[] = [];
  for (const costMs of ask.costsMs) {
    const atMs = Math.max(turnMs, nowMs, pausedUntilMs);
    if (!ask.isUrgent && atMs > nowMs + HORIZON_MS) break;
    inMs.push(atMs - nowMs);
    lastCostMs = costMs / share;
    turnMs = atMs + lastCostMs;
  }
  let againInMs = 0;
  if (inMs.length < ask.costsMs.length) {
    const longestMs = Math.max(MAX_LINE_MS, firstMs / share);
    lineMs = Math.min(Math.max(lineMs, turnMs, nowMs, pausedUntilMs), Math.max(turnMs, pausedUntilMs) + longestMs);
    againInMs = Math.max(0, lineMs - nowMs - HORIZON_MS / 2);
    lineMs += firstMs / share;
  }
  const booked = { nowMs, inMs, againInMs, share, pausedForMs: Math.max(0, pausedUntilMs - nowMs) };
  return {
    row: { life, turnMs, lastCostMs, lineMs, share, slowedAtMs, succeededAtMs, pausedUntilMs, pauseMs },
    booked,
  };
}
