import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { StopSwitch } from '../../src/run/stop.js';

it('a stop switch takes as many listeners as there are requests in flight, and no warning is said of them', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { nothingNew, nothingMore } = new StopSwitch();
  for (let request = 0; request < 256; request += 1) {
    nothingNew.addEventListener('abort', () => {});
    nothingMore.addEventListener('abort', () => {});
  }
  await setImmediate();
  expect(warnings).toEqual([]);
});
