import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PERIOD_MS, SlidingSecond } from '../../src/throttle/rate.js';

/** Passes a request as early as it may, but not before `earliestMs`; gives the time. */
function passAt(second: SlidingSecond, earliestMs: number, costMs: number, askedMs = Number.NEGATIVE_INFINITY): number {
  const nowMs = Math.max(earliestMs, second.nextMs(earliestMs));
  second.pass(nowMs, askedMs, costMs);
  return nowMs;
}

describe('a sliding second', () => {
  test('spaces requests that stand in line by what each costs', () => {
    const second = new SlidingSecond(0);
    expect([10, 30, 20, 5].map((costMs) => passAt(second, 0, costMs))).toEqual([0, 10, 40, 60]);
  });

  test('keeps the turns of those behind a request that was let go late', () => {
    const second = new SlidingSecond(0);
    expect(passAt(second, 0, 100)).toBe(0);
    expect(passAt(second, 130, 100)).toBe(130);
    expect(passAt(second, 0, 100)).toBe(200);
  });

  test('catches lost time up at twice the rate at most', () => {
    const second = new SlidingSecond(0);
    passAt(second, 0, 40);
    expect(passAt(second, 120, 40)).toBe(120);
    // 5 ms are forgiven once; each request then comes half its cost after the last.
    expect([passAt(second, 0, 40), passAt(second, 0, 40), passAt(second, 0, 40)]).toEqual([135, 155, 175]);
    expect(passAt(second, 0, 40)).toBe(200);
  });

  test('gives up more than 100 ms of lost time', () => {
    const second = new SlidingSecond(0);
    passAt(second, 0, 300);
    expect(passAt(second, 5000, 300)).toBe(5000);
    expect(passAt(second, 0, 300)).toBe(5200);
  });

  test('begins anew with a request that was asked for after its turn: idle time is not caught up', () => {
    const second = new SlidingSecond(0);
    passAt(second, 0, 50);
    expect(passAt(second, 90, 50, 90)).toBe(90);
    expect(passAt(second, 90, 50, 90)).toBe(140);
    expect(passAt(second, 9000, 50, 9000)).toBe(9000);
    expect(passAt(second, 9000, 50, 9000)).toBe(9050);
  });

  test('holds everything until a pause is over, and a shorter pause does not end a longer one', () => {
    const second = new SlidingSecond(0);
    second.holdUntil(500);
    second.holdUntil(200);
    expect([passAt(second, 0, 10), passAt(second, 0, 10)]).toEqual([500, 510]);
  });

  test('lets a request that costs more than a second pass, and nothing until it is paid', () => {
    const second = new SlidingSecond(0);
    expect(passAt(second, 0, 10)).toBe(0);
    expect(passAt(second, 0, 4000)).toBe(10);
    expect(passAt(second, 0, 10)).toBe(4010);
  });

  test('never lets more pass in a second than the limit says, however late and uneven requests are let go', () => {
    const jitter = fc.array(fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, fc.nat(60), fc.nat(1500)), {
      minLength: 50,
      maxLength: 300,
    });
    fc.assert(
      fc.property(fc.constantFrom(1, 5, 7, 50, 100), jitter, fc.boolean(), (perSecond, latenesses, isIdle) => {
        const second = new SlidingSecond(0);
        const times: number[] = [];
        let nowMs = 0;
        for (const connectDelayMs of latenesses) {
          nowMs = Math.max(nowMs, second.nextMs(nowMs)) + connectDelayMs;
          if (second.nextMs(nowMs) > nowMs) nowMs = second.nextMs(nowMs);
          second.pass(nowMs, isIdle ? nowMs : 0, PERIOD_MS / perSecond);
          times.push(nowMs);
        }
        const spans = times.slice(perSecond).map((time, index) => time - (times[index] as number));
        expect(Math.min(1000, ...spans)).toBe(1000);
      }),
    );
  });

  test('holds at most one request more than the limit where requests are of different size', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 20, maxLength: 200 }), (costs) => {
        const second = new SlidingSecond(0);
        const passed = costs.map((costMs) => ({ atMs: passAt(second, 0, costMs), costMs }));
        for (const { atMs } of passed) {
          const period = passed.filter((other) => other.atMs > atMs - PERIOD_MS && other.atMs <= atMs);
          expect(period.slice(0, -1).reduce((sum, { costMs }) => sum + costMs, 0)).toBeLessThan(PERIOD_MS);
        }
      }),
    );
  });
});
