import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { LaneSlots } from '../../src/throttle/gate.js';

test('hundreds of tasks that have a slot wait for their turn, and Node warns of no leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const slots = new LaneSlots({ concurrency: 500, signal: undefined });

  const tasks = Array.from({ length: 500 }, () => slots.run(() => systemClock.sleep(60_000, slots.stopped)));
  await setImmediate();
  await slots.close();
  await Promise.all(tasks);

  expect(warnings).toEqual([]);
});
