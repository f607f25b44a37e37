import {
  HORIZON_MS,
  HORIZON_PER_SLACK,
  MAX_LINE_MS,
  RECOVERY_PER_SECOND,
  SET_BACK_MS,
  SHRINKING,
} from '../../src/cluster/postgres/schema/lane-functions.js';
import type { BookedTurns, TurnsAsked } from '../../src/cluster/store.js';
import { PERIOD_MS } from '../../src/throttle/sliding-second.js';

/** `volley.lane` and `volley.book_turns` (lane-functions.ts) in TypeScript; a test compares the two in any history. */
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
    if (inMs.length >= ask.urgent && atMs > nowMs + horizonMs) break;
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
  const booked = { nowMs, inMs, slackMs, againInMs, share };
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
