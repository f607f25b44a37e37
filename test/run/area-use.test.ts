import { expect, test } from 'vitest';
import { RunState } from '../../src/journal/replay.js';
import { AreaUse } from '../../src/run/send/area-use.js';
import { FakeClock } from './fake-clock.js';

test.each([
  [undefined, undefined],
  [200, 200],
  [0, 0],
])('a run that never sent waits for another of its job that sent %j ms ago', (othersSentMsAgo, expected) => {
  const areas = new AreaUse(new FakeClock(), { state: new RunState(), host: 'a', othersSentMsAgo });
  expect(areas.lastSentMsAgo('sms')).toBe(expected);
});
