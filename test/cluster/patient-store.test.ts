import { describe, expect, test } from 'vitest';
import { createPatience } from '../../src/cluster/patient-store.js';
import { StoreLost } from '../../src/cluster/store.js';
import type { Clock } from '../../src/ports/clock.js';

/** Sleeping takes its time at once, or none once the signal has aborted. */
function aPatience(giveUpAfterMs: number) {
  let nowMs = 0;
  const clock: Clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (delayMs, signal) => {
      if (!signal?.aborted) nowMs += delayMs;
    },
  };
  const stop = new AbortController();
  const said: string[] = [];
  const onLost = (why: string, isNew: boolean) => isNew && said.push(why);
  const onBack = () => said.push('back');
  const repeat = createPatience({ clock, random: () => 0.5, giveUpAfterMs, signal: stop.signal, onLost, onBack });
  return { repeat, stop, said, nowMs: () => nowMs, pass: (ms: number) => (nowMs += ms) };
}

/** Is lost so many times, and then answers. */
function lostTimes(times: number, onCall: () => void = () => {}) {
  let calls = 0;
  return async () => {
    onCall();
    calls += 1;
    if (calls <= times) throw new StoreLost('the connection broke');
    return calls;
  };
}

describe('a call of a database that is lost', () => {
  test('is repeated until it is answered; that is said once, and so is the answer', async () => {
    const { repeat, said } = aPatience(60_000);
    expect(await repeat(lostTimes(5))).toBe(6);
    expect(said).toEqual(['the connection broke', 'back']);
  });

  test('is given up after the time for it', async () => {
    const { repeat, nowMs } = aPatience(60_000);
    await expect(repeat(lostTimes(1000))).rejects.toBeInstanceOf(StoreLost);
    expect(nowMs()).toBeGreaterThan(60_000);
    expect(nowMs()).toBeLessThan(63_000);
  });

  test('is repeated by a process that was stopped for longer than that while it waited for the answer', async () => {
    const { repeat, pass } = aPatience(60_000);
    expect(await repeat(lostTimes(1, () => pass(100_000)))).toBe(2);
  });

  test('is given up at once when the process has to end, but for a call with a signal of its own', async () => {
    const { repeat, stop } = aPatience(60_000);
    stop.abort();
    await expect(repeat(lostTimes(1))).rejects.toBeInstanceOf(StoreLost);
    expect(await repeat(lostTimes(1), new AbortController().signal)).toBe(2);
  });

  test('with a signal of its own ends with that', async () => {
    const { repeat } = aPatience(60_000);
    const own = new AbortController();
    const call = lostTimes(1000, () => own.abort());
    await expect(repeat(call, own.signal)).rejects.toBeInstanceOf(StoreLost);
  });

  test('is not repeated for another error', async () => {
    const { repeat } = aPatience(60_000);
    let calls = 0;
    const call = async () => {
      calls += 1;
      throw new RangeError('a bug');
    };
    await expect(repeat(call)).rejects.toThrow('a bug');
    expect(calls).toBe(1);
  });
});
