import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/journal/entry-format.js';
import { RunState } from '../../src/journal/replay.js';
import { aClose, anOpen } from './builders.js';

const what = 'create a webhook "events"';
const preparing: JournalEntry = { type: 'preparing', step: 1, at: 2000, what };
const prepared: JournalEntry = { type: 'prepared', step: 1, at: 2001, ids: ['w1'] };
const unprepared = (why: 'not-made' | 'unknown'): JournalEntry => ({ type: 'unprepared', step: 1, at: 2001, why });
const refused = aClose({ reason: 'refused' });

function replay(...entries: readonly JournalEntry[]): RunState {
  const state = new RunState();
  for (const entry of [anOpen(), ...entries]) state.apply(entry);
  return state;
}

describe('something that a step needs', () => {
  test.each<[string, readonly JournalEntry[], boolean]>([
    ['from the entry that it is about to be made', [preparing], true],
    ['not once its id is known', [preparing, prepared], false],
    ['not when it was not made, for certain', [preparing, unprepared('not-made')], false],
    ['while the run has not closed that stops to say so', [preparing, unprepared('unknown')], true],
    ['not once that run has closed', [preparing, unprepared('unknown'), refused], false],
    ['when that run died before it closed', [preparing, unprepared('unknown'), anOpen()], true],
    ['after a close that says nothing of it', [preparing, refused, anOpen()], true],
    ['when it is made anew', [preparing, unprepared('unknown'), refused, anOpen(), preparing], true],
    ['when the next thing is about to be made', [preparing, prepared, preparing], true],
  ])('may exist %s', (_, entries, isOpen) => {
    expect(replay(...entries).step(1).preparing?.what).toBe(isOpen ? what : undefined);
  });

  test('keeps the ids of what was made before it', () => {
    expect(replay(preparing, prepared, preparing, unprepared('unknown'), refused).step(1).prepared).toEqual(['w1']);
  });

  test('counts as sent when it is about to be made', () => {
    expect(replay(preparing)).toMatchObject({ lastSentAt: 2000, isInFlight: true });
  });
});
