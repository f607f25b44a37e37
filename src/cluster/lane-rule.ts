import { PERIOD_MS } from '../throttle/sliding-second.js';

/**
 * The turns of a lane that several processes share. Pure; PostgreSQL has the same rule as a function, and a test compares
 * the two.
 *
 * A turn is booked ahead, so that the way to the store and back does not delay it. A request may leave from its turn on, until
 * the slack of the lane is over: it is the largest that a process asks for (shared-lane.ts), and shrinks by `SHRINKING`. Turns
 * lie apart by the cost of the one before, stretched by the slack: so in no second does more leave than the limits say, where
 * requests cost the same, and otherwise less than one request more. The farther the store, the less of the limit is used.
 *
 * - Turns are booked ahead by a horizon, which grows with the slack. Who comes too early learns when to come again: `line`
 *   spreads those who wait over the turns to come, and promises nothing.
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
  /** A request leaves so long after its turn, at most. */
  readonly slackMs: number;
  readonly slackAtMs: number;
  /** What the last booked one cost, stretched: it lies so long before `turnMs`. */
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
  /** What the process needs: it knows the store's clock only so well. */
  readonly slackMs: number;
  /** An earlier turn would be too soon for it. */
  readonly leadMs: number;
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
  /** Of these turns: at least what was asked for. */
  readonly slackMs: number;
  /** When to ask again for those that were not booked. */
  readonly againInMs: number;
  readonly share: number;
  /** Zero when the lane is not paused. */
  readonly pausedForMs: number;
}

/** Of a store that answers at once. */
export const HORIZON_MS = 150;
/** Three ways there and back, of which the slack is one: the reply, the intent, and the next call. */
export const HORIZON_PER_SLACK = 3;
/** Milliseconds a millisecond. */
export const SHRINKING = 0.001;
/** The line is no longer than this, or one turn: who waits in it may have died, and its turns must not be lost. */
export const MAX_LINE_MS = 250;
/** A last booking so far ahead, without a pause, is none of this clock. */
export const SET_BACK_MS = 60_000;
export const RECOVERY_PER_SECOND = 0.05;
const SECOND_MS = 1000;

function horizonOf(slackMs: number): number {
  return HORIZON_MS + HORIZON_PER_SLACK * slackMs;
}

/** `firstMs`: what the first turn costs. */
export function newLane(
  life: string,
  { nowMs, firstMs, slackMs }: { nowMs: number; firstMs: number; slackMs: number },
): LaneRow {
  const turnMs = nowMs + horizonOf(slackMs) + slackMs + Math.max(PERIOD_MS, firstMs);
  return {
    life,
    turnMs,
    slackMs,
    slackAtMs: nowMs,
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
  const { slackMs: askedSlackMs } = ask;
  const before = row ?? newLane(life, { nowMs, firstMs, slackMs: askedSlackMs });
  let { turnMs, lastCostMs, lineMs, share, slowedAtMs, succeededAtMs, pausedUntilMs, pauseMs } = before;
  const slackMs = Math.max(askedSlackMs, before.slackMs - SHRINKING * Math.max(0, nowMs - before.slackAtMs));
  // What was booked before may leave later than what is booked from now on.
  turnMs += Math.max(0, before.slackMs - slackMs);
  // No longer than asked, where the clock was set back.
  pausedUntilMs = Math.min(pausedUntilMs, nowMs + pauseMs);
  const isSetBack = turnMs - lastCostMs > Math.max(nowMs, pausedUntilMs) + SET_BACK_MS;
  if (row !== undefined && (row.life !== life || isSetBack)) {
    // What was lost is booked before the end of the horizon, and may have cost as much as the last one.
    lastCostMs = Math.max(lastCostMs, firstMs / share);
    turnMs = nowMs + horizonOf(slackMs) + slackMs + Math.max(PERIOD_MS, lastCostMs);
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
  const horizonMs = horizonOf(slackMs);
  const stretch = (1 + slackMs / PERIOD_MS) / share;
  const inMs: number[] = [];
  for (const costMs of ask.costsMs) {
    const atMs = Math.max(turnMs, nowMs + Math.min(ask.leadMs, horizonMs), pausedUntilMs);
    if (!ask.isUrgent && atMs > nowMs + horizonMs) break;
    inMs.push(atMs - nowMs);
    lastCostMs = costMs * stretch;
    turnMs = atMs + lastCostMs;
  }
  let againInMs = 0;
  if (inMs.length < ask.costsMs.length) {
    const longestMs = Math.max(MAX_LINE_MS, firstMs * stretch);
    lineMs = Math.min(Math.max(lineMs, turnMs, nowMs, pausedUntilMs), Math.max(turnMs, pausedUntilMs) + longestMs);
    againInMs = Math.max(0, lineMs - nowMs - horizonMs / 2);
    lineMs += firstMs * stretch;
  }
  const booked = { nowMs, inMs, slackMs, againInMs, share, pausedForMs: Math.max(0, pausedUntilMs - nowMs) };
  return {
    row: {
      life,
      turnMs,
      slackMs,
      slackAtMs: nowMs,
      lastCostMs,
      lineMs,
      share,
      slowedAtMs,
      succeededAtMs,
      pausedUntilMs,
      pauseMs,
    },
    booked,
  };
}
