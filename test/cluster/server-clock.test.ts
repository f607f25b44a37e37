import { expect, test } from 'vitest';
import { ServerClock } from '../../src/cluster/shared-lane.js';
import { createRandom } from '../../src/sandbox/random.js';

test('the local time of a moment of the store lies between the bounds, and the shortest call says most', () => {
  const clock = new ServerClock();
  const ahead = 5_000_000;
  const random = createRandom(1, 1);
  for (let atMs = 1000; atMs < 60_000; atMs += 100) {
    const [there, back] = [random() * 50, random() * 50];
    clock.note(atMs + there + ahead, atMs, atMs + there + back);
    const { earliestMs, latestMs } = clock.toLocal(atMs + ahead);
    expect(earliestMs).toBeLessThanOrEqual(atMs);
    expect(latestMs).toBeGreaterThanOrEqual(atMs);
  }
  const { earliestMs, latestMs } = clock.toLocal(ahead);
  expect(latestMs - earliestMs).toBeLessThan(12);
});

test('a clock that was set is believed again at the next call', () => {
  const clock = new ServerClock();
  clock.note(1_000_000, 1000, 1002);
  clock.note(400_000, 2000, 2004);
  const { earliestMs, latestMs } = clock.toLocal(400_000);
  expect([earliestMs, latestMs]).toEqual([2000, 2004]);
});

test('bounds widen as clocks may drift apart', () => {
  const clock = new ServerClock();
  clock.note(1_000_000, 1000, 1001);
  clock.note(1_100_000 + 50, 101_000, 101_200);
  const { earliestMs, latestMs } = clock.toLocal(1_100_050);
  expect(earliestMs).toBeLessThanOrEqual(101_050);
  expect(latestMs).toBeGreaterThanOrEqual(101_050);
});
