import {
  HORIZON_MS,
  HORIZON_PER_SLACK,
  MAX_LINE_MS,
  RECOVERY_PER_SECOND,
  SET_BACK_MS,
  SHRINKING,
} from '../../src/cluster/postgres/schema/lane-functions.js';
import type { TurnsAsked } from '../../src/cluster/store.js';
import { PERIOD_MS } from '../../src/throttle/rate.js';

/** `volley.lane` and `volley.book_turns` (lane-functions.ts) in TypeScript; a test compares the two in any history. */
export interface LaneRow {
  life: string;
  /** The first turn that is not booked. */
  turnMs: number;
  /** A request leaves so long after its turn, at most. */
  slackMs: number;
  slackAtMs: number;
  /** What the last booked one cost, stretched: it lies so long before `turnMs`. */
  lastCostMs: number;
  /** Where the line of those who come again ends. */
  lineMs: number;
  share: number;
  slowedAtMs: number;
  succeededAtMs: number;
  pausedUntilMs: number;
  /** How long that pause was to be. */
  pauseMs: number;
}

const SECOND_MS = 1000;
/** What a lane of no known life begins with. */
const NEVER = { slowedAtMs: Number.NEGATIVE_INFINITY };
const NEW = { life: '', turnMs: 0, slackMs: 0, slackAtMs: 0, lastCostMs: 0, lineMs: 0, share: 1, ...NEVER };
const NO_PAUSE = { pausedUntilMs: 0, pauseMs: 0 };

/** `row` undefined: nobody has used the lane. */
export function bookTurns(row: LaneRow | undefined, ask: TurnsAsked, { life, nowMs }: { life: string; nowMs: number }) {
  const { costsMs, leastShare } = ask;
  const [firstMs = 0] = costsMs;
  const lane: LaneRow = row === undefined ? { ...NEW, ...NO_PAUSE, succeededAtMs: nowMs } : { ...row };
  const { slackMs: wasMs } = lane;
  const slackMs = Math.max(ask.slackMs, wasMs - SHRINKING * Math.max(0, nowMs - lane.slackAtMs));
  Object.assign(lane, { slackMs, slackAtMs: nowMs });
  const horizonMs = HORIZON_MS + HORIZON_PER_SLACK * slackMs;
  // No longer than asked, where the clock was set back.
  lane.pausedUntilMs = Math.min(lane.pausedUntilMs, nowMs + lane.pauseMs);
  // What was booked before may leave later than what is booked from now on.
  lane.turnMs += Math.max(0, wasMs - slackMs);
  const isSetBack = lane.turnMs - lane.lastCostMs > Math.max(nowMs, lane.pausedUntilMs) + SET_BACK_MS;
  if (lane.life !== life || isSetBack) {
    // What was lost is booked before the end of the horizon, and may have cost as much as the last one.
    lane.lastCostMs = Math.max(lane.lastCostMs, firstMs / lane.share);
    lane.turnMs = nowMs + horizonMs + slackMs + Math.max(PERIOD_MS, lane.lastCostMs);
    lane.lineMs = lane.turnMs;
  }
  lane.life = life;
  if (ask.slowed && Math.abs(nowMs - lane.slowedAtMs) >= SECOND_MS) {
    lane.share = Math.max(lane.share / 2, leastShare);
    lane.slowedAtMs = nowMs;
    lane.succeededAtMs = nowMs;
  } else if (ask.succeeded) {
    // The clock may have been set back.
    const passedMs = Math.max(0, Math.min(nowMs - lane.succeededAtMs, SECOND_MS));
    lane.share = Math.min(1, lane.share + (RECOVERY_PER_SECOND * passedMs) / SECOND_MS);
    lane.succeededAtMs = nowMs;
  }
  if (ask.pauseMs > 0 && nowMs + ask.pauseMs > lane.pausedUntilMs)
    Object.assign(lane, { pausedUntilMs: nowMs + ask.pauseMs, pauseMs: ask.pauseMs });
  const stretch = (1 + slackMs / PERIOD_MS) / lane.share;
  const inMs: number[] = [];
  for (const costMs of costsMs) {
    const atMs = Math.max(lane.turnMs, nowMs + Math.min(ask.leadMs, horizonMs), lane.pausedUntilMs);
    if (inMs.length >= ask.urgent && atMs > nowMs + horizonMs) break;
    inMs.push(atMs - nowMs);
    lane.lastCostMs = costMs * stretch;
    lane.turnMs = atMs + lane.lastCostMs;
  }
  let againInMs = 0;
  if (inMs.length < costsMs.length) {
    const freeMs = Math.max(lane.turnMs, lane.pausedUntilMs);
    lane.lineMs = Math.min(Math.max(lane.lineMs, freeMs, nowMs), freeMs + Math.max(MAX_LINE_MS, firstMs * stretch));
    againInMs = Math.max(0, lane.lineMs - nowMs - horizonMs / 2);
    lane.lineMs += firstMs * stretch;
  }
  return { row: lane, booked: { nowMs, inMs, slackMs, againInMs, share: lane.share } };
}
