import { describe, expect, test } from 'vitest';
import { HORIZON_MS } from '../../src/cluster/postgres/schema/lane-functions.js';
import type { TurnsAsked } from '../../src/cluster/store.js';
import { createRandom } from '../../src/sandbox/random.js';
import { PERIOD_MS } from '../../src/throttle/sliding-second.js';
import { mostInSecond } from './lanes-on-a-timeline.js';
import { bookTurns, type LaneRow } from './memory/lane-rule.js';

const START_MS = 1_795_000_000_000;

function anAsk(ask: Partial<TurnsAsked> = {}): TurnsAsked {
  return {
    costsMs: [40],
    isUrgent: false,
    slackMs: 0,
    leadMs: 0,
    slowed: false,
    succeeded: false,
    leastShare: 1 / 64,
    pauseMs: 0,
    ...ask,
  };
}

test.each([0.25, 0.01])(
  'at %d requests a second, a new lane and one that has a new life hold one turn, and those after it come as far apart',
  (perSecond) => {
    const costMs = PERIOD_MS / perSecond;
    let row: LaneRow | undefined;
    let nowMs = START_MS;
    const turns = [START_MS];
    for (const life of ['one', 'one', 'two', 'two', 'three']) {
      // One process after the other, each with one request.
      for (let isBooked = false; !isBooked; ) {
        const { row: next, booked } = bookTurns(row, anAsk({ costsMs: [costMs] }), { life, nowMs });
        row = next;
        const [inMs] = booked.inMs;
        isBooked = inMs !== undefined;
        nowMs += inMs ?? booked.againInMs;
        if (isBooked) turns.push(nowMs);
        expect(nowMs - START_MS).toBeLessThan(20 * costMs);
      }
    }
    for (const [index, atMs] of turns.slice(1).entries()) {
      expect(atMs - turns[index]!).toBeGreaterThanOrEqual(costMs - 1e-6);
    }
  },
);

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
        isUrgent: random() < 0.2,
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

test('a slack that a process asked for shrinks by five milliseconds a second, and what is booked then comes that much later', () => {
  const { row } = bookTurns(undefined, anAsk({ slackMs: 100 }), { life: 'one', nowMs: START_MS });
  const asked = anAsk({ slackMs: 10, costsMs: [1006], isUrgent: true });
  const { row: later, booked } = bookTurns(row, asked, { life: 'one', nowMs: START_MS + 4_000 });
  expect(booked.slackMs).toBe(80);
  expect(later.turnMs - (START_MS + 4_000)).toBe(1006 + 80);
  const next = bookTurns(later, asked, { life: 'one', nowMs: START_MS + 4_200 }).booked;
  expect(next.slackMs).toBe(79);
  expect(next.inMs[0]).toBeCloseTo(1006 + 80 + 1 - 200);
});

describe('a lane that two ask', () => {
  const book = (row: LaneRow | undefined, nowMs: number, ask: Partial<TurnsAsked> = {}, life = 'one') =>
    bookTurns(row, anAsk(ask), { life, nowMs });
  const warm = () => book(undefined, START_MS).row;
  const later = START_MS + 10_000;

  test('lets nothing pass in its first period', () => {
    const { booked } = book(undefined, START_MS, { isUrgent: true });
    expect(booked.inMs).toEqual([PERIOD_MS + HORIZON_MS]);
  });

  test('holds turns for a pause, also urgent ones', () => {
    const { row } = book(warm(), later, { costsMs: [], pauseMs: 2000 });
    expect(book(row, later + 500).booked).toMatchObject({ inMs: [] });
    expect(book(row, later + 500, { isUrgent: true }).booked.inMs).toEqual([1500]);
  });

  test('halves its share once a second at most, and success wins it back at 5 % a second', () => {
    let { row } = book(warm(), later, { costsMs: [], slowed: true });
    expect(row.share).toBe(0.5);
    row = book(row, later + 900, { costsMs: [], slowed: true }).row;
    expect(row.share).toBe(0.5);
    row = book(row, later + 1000, { costsMs: [], slowed: true }).row;
    expect(row.share).toBe(0.25);
    for (let second = 2; second <= 16; second++)
      row = book(row, later + second * 1000, { costsMs: [], succeeded: true }).row;
    expect(row.share).toBeCloseTo(1);
  });

  test('is not slower than its least share', () => {
    let row = warm();
    for (let second = 1; second < 12; second++)
      row = book(row, later + second * 1000, { costsMs: [], slowed: true, leastShare: 0.1 }).row;
    expect(row.share).toBe(0.1);
  });

  test.each([
    ['in a new life of the server', later, 'two'],
    ['when its clock was set back', START_MS - 3_600_000, 'one'],
  ])('lets nothing pass for a period %s', (_, nowMs, life) => {
    const { row } = book(warm(), later);
    const { booked } = book(row, nowMs, { isUrgent: true }, life);
    expect(booked.inMs[0]).toBeGreaterThanOrEqual(PERIOD_MS);
    expect(booked.inMs[0]).toBeLessThanOrEqual(PERIOD_MS + HORIZON_MS);
  });
});

test('a pause lasts no longer than it was to, where the clock is set back, also after a restart', () => {
  const pauseMs = 200;
  const { row } = bookTurns(undefined, anAsk({ pauseMs }), { life: 'one', nowMs: START_MS });
  const nowMs = START_MS - 7_200_000;
  for (const life of ['one', 'two']) {
    const { row: after, booked } = bookTurns(row, anAsk(), { life, nowMs });
    expect(after.pausedUntilMs - nowMs).toBe(pauseMs);
    expect(booked.againInMs).toBeLessThan(2 * PERIOD_MS);
  }
});
