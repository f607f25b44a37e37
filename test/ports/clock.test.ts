import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether the sleep is over, as time passes. */
function sleep(delayMs: number, signal?: AbortSignal) {
  const told = { isOver: false };
  void systemClock.sleep(delayMs, signal).then(() => {
    told.isOver = true;
  });
  return told;
}

it.each([20, MAX_TIMER_MS, MAX_TIMER_MS + 1, 4 * MAX_TIMER_MS + 1])(
  'a sleep of %d ms is over then, and not before',
  async (delayMs) => {
    const told = sleep(delayMs);
    await vi.advanceTimersByTimeAsync(delayMs - 1);
    expect(told.isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(told.isOver).toBe(true);
  },
);

it.each([0, MAX_TIMER_MS + 5])(
  'a sleep longer than a timer ends when it is called off after %d ms',
  async (afterMs) => {
    const off = new AbortController();
    const told = sleep(3 * MAX_TIMER_MS, off.signal);
    await vi.advanceTimersByTimeAsync(afterMs);
    expect(told.isOver).toBe(false);

    off.abort();
    await vi.advanceTimersByTimeAsync(0);

    expect(told.isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  },
);

it('a sleep that is called off before it begins sets no timer', async () => {
  const told = sleep(1000, AbortSignal.abort());
  await vi.advanceTimersByTimeAsync(0);
  expect(told.isOver).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});
