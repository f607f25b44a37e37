import { expect, test } from 'vitest';
import { createPatience } from '../../src/cluster/patient-store.js';
import { StoreLost } from '../../src/cluster/store.js';

/** Sleeping takes its time at once, or none once the signal has aborted. A call takes `callMs`. */
function aPatience({ giveUpAfterMs = 60_000, callMs = 0 } = {}) {
  let nowMs = 0;
  const sleep = async (delayMs: number, signal?: AbortSignal) => {
    if (!signal?.aborted) nowMs += delayMs;
  };
  const clock = { now: () => nowMs, monotonicMs: () => nowMs, sleep };
  const stop = new AbortController();
  const said: string[] = [];
  const onLost = (why: string, isNew: boolean) => isNew && said.push(why);
  const deps = {
    clock,
    random: () => 0.5,
    giveUpAfterMs,
    signal: stop.signal,
    onLost,
    onBack: () => said.push('back'),
  };
  const repeat = createPatience(deps);
  /** Is lost so many times, and then answers. */
  const ask = (lostTimes: number, signal?: AbortSignal) => {
    let calls = 0;
    return repeat(async () => {
      calls += 1;
      nowMs += callMs;
      if (calls <= lostTimes) throw new StoreLost('the connection broke');
      return calls;
    }, signal);
  };
  return { ask, stop, said, nowMs: () => nowMs };
}

test('a call of a database that is lost is repeated until it is answered; that is said once, and so is the answer', async () => {
  const { ask, said } = aPatience();
  expect(await ask(5)).toBe(6);
  expect(said).toEqual(['the connection broke', 'back']);
});

test('it is given up after the time for it, which a process that was stopped meanwhile has not used', async () => {
  const { ask, nowMs } = aPatience();
  await expect(ask(1000)).rejects.toBeInstanceOf(StoreLost);
  expect(nowMs()).toBeGreaterThan(60_000);
  expect(nowMs()).toBeLessThan(63_000);
  expect(await aPatience({ callMs: 100_000 }).ask(1)).toBe(2);
});

test('it is given up at once when the process has to end, but for a call with a signal of its own', async () => {
  const { ask, stop } = aPatience();
  stop.abort();
  await expect(ask(1)).rejects.toBeInstanceOf(StoreLost);
  expect(await ask(1, new AbortController().signal)).toBe(2);
});
