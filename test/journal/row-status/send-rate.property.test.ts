import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SendRate, SHORTEST_PAUSE_MS } from '../../../src/journal/row-status/send-rate.js';

const sends = fc.array(fc.tuple(fc.integer({ min: -5000, max: 3_000_000 }), fc.integer({ min: 1, max: 1000 })), {
  maxLength: 400,
});

test('whatever was sent when, every row is in one span, in flat memory, and time is accounted for', () => {
  fc.assert(
    fc.property(sends, (waits) => {
      const rate = new SendRate();
      let atMs = 1_800_000_000_000;
      let latestMs = Number.NEGATIVE_INFINITY;
      for (const [waitMs, rows] of waits) {
        atMs += waitMs;
        latestMs = Math.max(latestMs, atMs);
        rate.add(atMs, rows);
      }
      const { series } = rate;
      expect(series === undefined).toBe(waits.length === 0);
      if (series === undefined) return;
      expect(series.rows.reduce((sum, rows) => sum + rows, 0)).toBe(waits.reduce((sum, [, rows]) => sum + rows, 0));
      expect(series.rows.length).toBeLessThanOrEqual(240);
      const endMs = series.startMs + series.rows.length * series.spanMs + series.pausedMs;
      expect(endMs).toBeGreaterThan(latestMs - 1);
      expect(endMs - series.spanMs).toBeLessThanOrEqual(latestMs);
    }),
  );
});

test('a run that resumes the next day has one pause, and both its halves are seen', () => {
  const rate = new SendRate();
  for (const day of [0, 1]) {
    for (let second = 0; second < 10; second++) rate.add(day * 86_400_000 + second * 1000, 100);
  }
  expect(rate.series).toEqual({
    startMs: 0,
    spanMs: 1000,
    rows: [...Array(10).fill(100), ...Array(SHORTEST_PAUSE_MS / 1000 - 1).fill(0), ...Array(10).fill(100)],
    pausedMs: 86_400_000 - 9000 - SHORTEST_PAUSE_MS,
  });
});
