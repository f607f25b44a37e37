import { expect, test } from 'vitest';
import { createCounts, logCounts } from '../../src/listen/listen-counts.js';
import { FakeClock } from '../run/fake-clock.js';

test('counts are said every five seconds when something came, and not otherwise', async () => {
  const clock = new FakeClock();
  const lines: object[] = [];
  const say = (message: string, fields: object = {}) => void lines.push({ message, ...fields });
  const stop = new AbortController();
  const counts = createCounts();
  const logging = logCounts({ clock, log: { info: say, warn: say, error: say }, signal: stop.signal }, counts);

  await clock.pass(5000);
  expect(lines).toEqual([]);
  counts.received = 3;
  counts.written = 2;
  await clock.pass(4999);
  expect(lines).toEqual([]);
  await clock.pass(1);
  expect(lines).toEqual([
    {
      message:
        '3 events received, 2 written, 0 duplicates, 0 of unknown kind, 0 bad bodies, 0 refused, 0 turned away, 0 connections dropped',
      ...counts,
    },
  ]);
  await clock.pass(5000);
  expect(lines).toHaveLength(1);
  counts.bad = 1;
  await clock.pass(5000);
  expect(lines).toHaveLength(2);
  stop.abort();
  await logging;
});
