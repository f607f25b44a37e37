import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { changeCampaign, entries, putCampaign, statusOf } from './campaign-client.js';

const STOPPED = 'Campaign is already stopped or completed. No operation is allowed.';
const INVALID = 'Invalid state transition.';

/** What each request makes of each of the twelve states: the number that follows, or the text that refuses. */
const TABLE = [
  // state, RUNNING, PAUSED, PURGED, STOPPED
  [0, 'New', 3, INVALID, INVALID, INVALID],
  [1, 'Manual Started', INVALID, 8, INVALID, 5],
  [2, 'Scheduled', INVALID, 8, INVALID, 5],
  [3, 'Manual Running', INVALID, 8, INVALID, 5],
  [4, 'Schedule Running', INVALID, 8, INVALID, 5],
  [5, 'Manual Stopped', STOPPED, STOPPED, STOPPED, STOPPED],
  [6, 'Completed (Stopped)', STOPPED, STOPPED, STOPPED, STOPPED],
  [7, 'Schedule Stopped', STOPPED, STOPPED, STOPPED, STOPPED],
  [8, 'Manual Paused', 3, INVALID, 10, 5],
  [9, 'Schedule Paused', 3, INVALID, 10, 5],
  [10, 'Manual Purged', 3, INVALID, INVALID, 5],
  [11, 'Schedule Purged', 3, INVALID, INVALID, 5],
] as const;

const CASES = TABLE.flatMap(([from, name, ...results]) =>
  (['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const).map((requested, place) => {
    const expected = results[place] ?? INVALID;
    return { from, name, requested, expected };
  }),
);

test.each(CASES)('§States: $from $name, asked for $requested → $expected', async ({ from, requested, expected }) => {
  const client = await aClient();
  await putCampaign(client, 101, { status: from });
  const { status, body } = await changeCampaign(client, 101, requested);
  const isAllowed = typeof expected === 'number';
  expect([status, body]).toEqual(
    isAllowed ? [200, { message: 'Campaign status changed.' }] : [400, { message: expected }],
  );
  expect(await statusOf(client, 101)).toBe(isAllowed ? expected : from);
  const changes = (await entries(client)).filter((entry) => entry.requested !== null);
  expect(changes).toMatchObject(isAllowed ? [{ requested, from, status: expected }] : []);
});

test('the table has every state and every request', () => {
  expect(CASES).toHaveLength(12 * 4);
});
