import { expect, test } from 'vitest';
import { HORIZON_MS } from '../../src/cluster/postgres/schema/lane-functions.js';
import type { TurnsAsked } from '../../src/cluster/store.js';
import { createRandom } from '../../src/sandbox/random.js';
import { PERIOD_MS } from '../../src/throttle/rate.js';
import { bookTurns, type LaneRow } from './lane-rule.js';
import { mostInSecond } from './lanes-on-a-timeline.js';

const START_MS = 1_795_000_000_000;

function anAsk(ask: Partial<TurnsAsked> = {}): TurnsAsked {
  return {
    costsMs: [40],
    urgent: 0,
    slackMs: 0,
    leadMs: 0,
    slowed: false,
    succeeded: false,
    leastShare: 1 / 64,
    pauseMs: 0,
    ...ask,
  };
}

test('random askers with random costs never get more of a period than it has, and one request', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandom(seed, 7);
    let row: LaneRow | undefined;
    let nowMs = START_MS;
    const passed: { atMs: number; costMs: number }[] = [];
    for (let call = 0; call < 300; call++) {
      nowMs += random() * 60;
      const costsMs = Array.from({ length: Math.floor(random() * 4) }, () => 5 + random() * 200);
      const ask = anAsk({
        costsMs,
        urgent: random() < 0.2 ? Math.floor(random() * 4) : 0,
        slowed: random() < 0.05,
        succeeded: random() < 0.3,
        pauseMs: random() < 0.02 ? random() * 3000 : 0,
      });
      const booked = bookTurns(row, ask, { life: 'one', nowMs });
      row = booked.row;
      // By what they cost without a slowdown: that only makes them rarer.
      for (const [index, inMs] of booked.booked.inMs.entries())
        passed.push({ atMs: nowMs + inMs, costMs: costsMs[index]! });
    }
    for (const { atMs, costMs } of passed) {
      const sum = passed
        .filter((one) => one.atMs < atMs && one.atMs > atMs - PERIOD_MS)
        .reduce((all, one) => all + one.costMs, 0);
      const [first] = passed.filter((one) => one.atMs > atMs - PERIOD_MS);
      expect(sum).toBeLessThanOrEqual(PERIOD_MS + (first?.costMs ?? costMs) + 1e-6);
    }
  }
});

test.each([2, 25, 200])(
  'at %i a second, requests that leave at any moment of their slack, which grows and shrinks, never exceed the limit',
  (perSecond) => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = createRandom(seed, perSecond);
      let row: LaneRow | undefined;
      let nowMs = START_MS;
      const left: number[] = [];
      while (left.length < 8 * perSecond) {
        nowMs += random() * 100;
        const ask = anAsk({
          costsMs: Array.from({ length: 1 + Math.floor(random() * perSecond * 0.1) }, () => PERIOD_MS / perSecond),
          slackMs: random() < 0.9 ? random() * 8 : random() ** 3 * 400,
          leadMs: random() * 40,
        });
        const { row: next, booked } = bookTurns(row, ask, { life: 'one', nowMs });
        row = next;
        // Every process has its way of being late.
        const isLate = random() < 0.5;
        left.push(...booked.inMs.map((inMs) => nowMs + inMs + (isLate ? 1 : random()) * booked.slackMs));
        nowMs += random() < 0.02 ? random() * 20_000 : 0;
      }
      expect(mostInSecond(left)).toBeLessThanOrEqual(perSecond);
    }
  },
);

const book = (row: LaneRow | undefined, nowMs: number, ask: Partial<TurnsAsked> = {}, life = 'one') =>
  bookTurns(row, anAsk(ask), { life, nowMs });
const later = START_MS + 10_000;

test.each<[string, number, string]>([
  ['in its first period', later, 'one'],
  ['for a period in a new life of the server', later, 'two'],
  ['for a period when its clock was set back', START_MS - 3_600_000, 'one'],
])('a lane lets nothing pass %s', (when, nowMs, life) => {
  const row = when.includes('first') ? undefined : book(book(undefined, START_MS).row, later).row;
  const { booked } = book(row, nowMs, { urgent: 1 }, life);
  expect(booked.inMs[0]).toBeGreaterThanOrEqual(PERIOD_MS);
  expect(booked.inMs[0]).toBeLessThanOrEqual(PERIOD_MS + HORIZON_MS);
});

test('a lane halves its share once a second at most, down to the least, and success wins it back at 5 % a second', () => {
  const slow = { costsMs: [], slowed: true, leastShare: 0.2 };
  const shares: number[] = [];
  let row = book(undefined, START_MS).row;
  for (const atMs of [0, 900, 1000, 2000, 3000]) {
    row = book(row, later + atMs, slow).row;
    shares.push(row.share);
  }
  expect(shares).toEqual([0.5, 0.5, 0.25, 0.2, 0.2]);
  for (let second = 4; second <= 19; second++)
    row = book(row, later + second * 1000, { costsMs: [], succeeded: true }).row;
  expect(row.share).toBeCloseTo(1);
});

test('a pause holds turns, also urgent ones, and no longer than it was to where the clock is set back, also after a restart', () => {
  const { row } = book(book(undefined, START_MS).row, later, { costsMs: [], pauseMs: 2000 });
  expect(book(row, later + 500).booked).toMatchObject({ inMs: [] });
  expect(book(row, later + 500, { urgent: 1 }).booked.inMs).toEqual([1500]);
  for (const life of ['one', 'two']) {
    const nowMs = START_MS - 7_200_000;
    const after = book(row, nowMs, {}, life);
    expect(after.row.pausedUntilMs - nowMs).toBe(2000);
    expect(after.booked.againInMs).toBeLessThan(4 * PERIOD_MS);
  }
});
