import { PERIOD_MS } from '../../../throttle/rate.js';
import { NOW_MS, SETTINGS } from './worker-functions.js';

/** How far turns are booked ahead in a store that answers at once. */
export const HORIZON_MS = 150;
/** How much farther for each millisecond of slack: three ways there and back, of which the slack is one: reply, intent, next call. */
export const HORIZON_PER_SLACK = 3;
/** How fast the slack shrinks: milliseconds a millisecond. */
export const SHRINKING = 0.005;
/** The line is no longer than this, or one turn: who waits in it may have died, and its turns must not be lost. */
export const MAX_LINE_MS = 250;
/** A last booking so far ahead, without a pause, is none of this clock. */
export const SET_BACK_MS = 60_000;
export const RECOVERY_PER_SECOND = 0.05;
/** The span over which the use of a lane is counted, for people: what is older by this counts a third. */
export const USED_SPAN_MS = 5_000;
/** SQL: which part of what was used counts so many milliseconds later. */
export const remaining = (passedMs: string) => `exp(-least(greatest((${passedMs}) / ${USED_SPAN_MS}, 0), 50))`;

/**
 * The turns of a lane that several processes share: `book_turns` is the rule, and pure; the store in memory has the same in
 * TypeScript, and a test compares the two.
 *
 * A turn is booked ahead, so that the way to the store and back does not delay it. A request may leave from its turn on, until
 * the slack of the lane is over: it is the largest that a process asks for (shared-lane.ts), and shrinks by `SHRINKING`. Turns
 * lie apart by the cost of the one before, stretched by the slack: so in no second does more leave than the limits say, where
 * requests cost the same, and otherwise less than one request more. The farther the store, the less of the limit is used.
 *
 * - Turns are booked ahead by a horizon, which grows with the slack. Who comes too early learns when to come again: `line`
 *   spreads those who wait over the turns to come, and promises nothing.
 * - The first ones, `urgent` of them, have turns beyond the horizon too: their intents are written already.
 * - After a refusal (`slowed`) turns come half as fast, down to `leastShare`, and success wins back 5 % a second.
 * - A pause holds turns that are not yet booked. It lasts no longer than it was to, whatever the clock does.
 * - In a new life of the server, or where its clock was set back, the last bookings may be lost, and of a new lane nothing is known:
 *   nothing passes for a period, or as long as the first turn costs, where a limit below one a second makes that longer.
 */
export const LANE_FUNCTIONS = `
create or replace function volley.book_turns(inout lane volley.lane, present text, now_ms float8, costs_ms float8[], urgent integer,
  slack_ms float8, lead_ms float8, slowed boolean, succeeded boolean, least_share float8, asked_pause_ms float8, out in_ms float8[],
  out again_in_ms float8)
language plpgsql immutable as $$
declare
  first_ms float8 := coalesce(costs_ms[1], 0);
  cost_ms float8;
  at_ms float8;
  was_ms float8 := lane.slack_ms;
  horizon_ms float8;
  stretch float8;
begin
  lane.slack_ms := greatest(slack_ms, was_ms - ${SHRINKING}::float8 * greatest(0, now_ms - lane.slack_at_ms));
  lane.slack_at_ms := now_ms;
  horizon_ms := ${HORIZON_MS} + ${HORIZON_PER_SLACK} * lane.slack_ms;
  lane.paused_until_ms := least(lane.paused_until_ms, now_ms + lane.pause_ms);
  if lane.turn_ms is null then
    lane.turn_ms := now_ms + horizon_ms + lane.slack_ms + greatest(${PERIOD_MS}, first_ms);
    lane.last_cost_ms := first_ms;
    lane.line_ms := lane.turn_ms;
    lane.share := 1;
    lane.slowed_at_ms := '-infinity';
    lane.succeeded_at_ms := now_ms;
    lane.paused_until_ms := 0;
    lane.pause_ms := 0;
  end if;
  lane.turn_ms := lane.turn_ms + greatest(0, was_ms - lane.slack_ms);
  if lane.life <> present or lane.turn_ms - lane.last_cost_ms > greatest(now_ms, lane.paused_until_ms) + ${SET_BACK_MS} then
    lane.last_cost_ms := greatest(lane.last_cost_ms, first_ms / lane.share);
    lane.turn_ms := now_ms + horizon_ms + lane.slack_ms + greatest(${PERIOD_MS}, lane.last_cost_ms);
    lane.line_ms := lane.turn_ms;
  end if;
  lane.life := present;
  if slowed and abs(now_ms - lane.slowed_at_ms) >= 1000 then
    lane.share := greatest(lane.share / 2, least_share);
    lane.slowed_at_ms := now_ms;
    lane.succeeded_at_ms := now_ms;
  elsif succeeded then
    lane.share := least(1,
      lane.share + (${RECOVERY_PER_SECOND}::float8 * greatest(0, least(now_ms - lane.succeeded_at_ms, 1000))) / 1000);
    lane.succeeded_at_ms := now_ms;
  end if;
  if asked_pause_ms > 0 and now_ms + asked_pause_ms > lane.paused_until_ms then
    lane.paused_until_ms := now_ms + asked_pause_ms;
    lane.pause_ms := asked_pause_ms;
  end if;
  stretch := (1 + lane.slack_ms / ${PERIOD_MS}) / lane.share;
  in_ms := '{}';
  foreach cost_ms in array costs_ms loop
    at_ms := greatest(lane.turn_ms, now_ms + least(lead_ms, horizon_ms), lane.paused_until_ms);
    exit when cardinality(in_ms) >= urgent and at_ms > now_ms + horizon_ms;
    in_ms := in_ms || (at_ms - now_ms);
    lane.last_cost_ms := cost_ms * stretch;
    lane.turn_ms := at_ms + lane.last_cost_ms;
  end loop;
  again_in_ms := 0;
  if cardinality(in_ms) < cardinality(costs_ms) then
    lane.line_ms := least(greatest(lane.line_ms, lane.turn_ms, now_ms, lane.paused_until_ms),
      greatest(lane.turn_ms, lane.paused_until_ms) + greatest(${MAX_LINE_MS}, first_ms * stretch));
    again_in_ms := greatest(0, lane.line_ms - now_ms - horizon_ms / 2);
    lane.line_ms := lane.line_ms + first_ms * stretch;
  end if;
end $$;

-- A crash may lose the last bookings: then the server has a new life, and the rule waits. So the disk need not be waited for.
create or replace function volley.book(lane_name text, costs_ms float8[], urgent integer, asked_slack_ms float8, lead_ms float8,
  slowed boolean, succeeded boolean, least_share float8, asked_pause_ms float8, out now_ms float8, out in_ms float8[],
  out slack_ms float8, out again_in_ms float8, out share float8)
language plpgsql ${SETTINGS} as $$
declare
  booked volley.lane;
  turns record;
  present text := volley.present_life();
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into volley.lane (name) select lane_name where not exists (select from volley.lane where name = lane_name) on conflict do nothing;
  select * into booked from volley.lane where name = lane_name for update;
  now_ms := ${NOW_MS};
  select * into turns from volley.book_turns(booked, present, now_ms, costs_ms, urgent, asked_slack_ms, lead_ms,
    slowed, succeeded, least_share, asked_pause_ms);
  booked := turns.lane;
  in_ms := turns.in_ms;
  slack_ms := booked.slack_ms;
  again_in_ms := turns.again_in_ms;
  share := booked.share;
  update volley.lane l
    set life = booked.life, turn_ms = booked.turn_ms, slack_ms = booked.slack_ms, slack_at_ms = booked.slack_at_ms, last_cost_ms = booked.last_cost_ms, line_ms = booked.line_ms,
      share = booked.share, slowed_at_ms = booked.slowed_at_ms, succeeded_at_ms = booked.succeeded_at_ms,
      paused_until_ms = booked.paused_until_ms, pause_ms = booked.pause_ms,
      -- One that asks again has missed a turn, which counts already.
      used_ms = l.used_ms * ${remaining('now_ms - l.slack_at_ms')}
        + (select coalesce(sum(cost), 0) from unnest(costs_ms[urgent + 1:cardinality(in_ms)]) cost)
    where l.name = lane_name;
end $$;
`;
