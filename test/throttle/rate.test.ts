import { describe, expect, test } from 'vitest';
import type { Limits } from '../../src/job/limits.js';
import { PERIOD_MS, Rate } from '../../src/throttle/rate.js';

function aRate(limits: Partial<Limits> = {}): Rate {
  return new Rate({
    requestsPerSecond: 100,
    messagesPerSecond: undefined,
    segmentsPerSecond: undefined,
    concurrency: 8,
    ...limits,
  });
}

const ONE = { messages: 1, segments: 1 };

/** Refuses a request that was sent just before. */
function refuse(rate: Rate, nowMs: number): void {
  rate.noteSent();
  rate.slowDown(nowMs);
}

describe('cost of a request', () => {
  test('is the time that the limit gives it which it uses up most of', () => {
    const rate = aRate({ requestsPerSecond: 10, messagesPerSecond: 1000, segmentsPerSecond: 2000 });
    expect(rate.costMs({ messages: 1, segments: 1 })).toBeCloseTo(PERIOD_MS * 0.1);
    expect(rate.costMs({ messages: 500, segments: 500 })).toBeCloseTo(PERIOD_MS * 0.5);
    expect(rate.costMs({ messages: 500, segments: 1500 })).toBeCloseTo(PERIOD_MS * 0.75);
  });

  test('counts only limits that are set', () => {
    expect(aRate().costMs({ messages: 9999, segments: 9999 })).toBeCloseTo(PERIOD_MS / 100);
  });
});

describe('rate', () => {
  test('is halved by a refusal, and the cost doubled', () => {
    const rate = aRate();
    refuse(rate, 0);
    expect(rate.share).toBe(0.5);
    expect(rate.costMs(ONE)).toBeCloseTo((PERIOD_MS / 100) * 2);
  });

  test('is halved once for all refusals of requests that were sent before it was', () => {
    const rate = aRate();
    refuse(rate, 0);
    rate.slowDown(3000);
    rate.slowDown(9000);
    expect(rate.share).toBe(0.5);
  });

  test('is halved once for all refusals within a second', () => {
    const rate = aRate();
    refuse(rate, 0);
    refuse(rate, 999);
    expect(rate.share).toBe(0.5);
    refuse(rate, 1000);
    expect(rate.share).toBe(0.25);
  });

  test.each([
    [100, 100 / 64],
    [1, 0.1],
    [0.05, 0.05],
  ])('of %d a second never falls below %d', (requestsPerSecond, least) => {
    const rate = aRate({ requestsPerSecond });
    for (let second = 0; second < 20; second++) refuse(rate, second * 1000);
    expect(rate.share * requestsPerSecond).toBeCloseTo(least);
  });

  test('wins back 5 % of the limit for each second of success, and no more than the limit', () => {
    const rate = aRate();
    refuse(rate, 0);
    for (let nowMs = 100; nowMs <= 4000; nowMs += 100) rate.noteSuccess(nowMs);
    expect(rate.share).toBeCloseTo(0.7);
    for (let nowMs = 4100; nowMs <= 20_000; nowMs += 100) rate.noteSuccess(nowMs);
    expect(rate.share).toBe(1);
  });

  test('wins back one second for a success after a long time without any', () => {
    const rate = aRate();
    refuse(rate, 0);
    rate.noteSuccess(60_000);
    expect(rate.share).toBeCloseTo(0.55);
  });
});
