import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/journal/entry-format.js';
import { countSettledRequests, RunState } from '../../src/journal/replay.js';
import { aClose, anIntent, anOpen, anOutcome, aSettlement } from './builders.js';

function replay(...entries: readonly JournalEntry[]): RunState {
  const state = new RunState();
  for (const entry of entries) state.apply(entry);
  return state;
}

const again = (fields: Partial<Parameters<typeof anOutcome>[0]> = {}) =>
  anOutcome({ ...fields, result: { kind: 'again', why: 'HTTP 429' } });
const split = () => anOutcome({ result: { kind: 'split', why: 'HTTP 400' } });

// In whatever order requests are begun, split and settled: replay.property.test.ts.
describe('run state of a request', () => {
  test('is gone once it is settled, and its rows are counted by status', () => {
    const progress = replay(anIntent(), anOutcome({ result: aSettlement(10, 3) })).step(1);
    expect(progress.open.size).toBe(0);
    expect(progress.settledRows).toEqual({ accepted: 7, rejected: 3, 'in-doubt': 0, 'not-sent': 0 });
    expect(countSettledRequests(progress)).toBe(1);
  });

  test('counts rows in doubt as settled', () => {
    const verdicts = [{ status: 'in-doubt', code: 'no-answer', reason: '' }] as const;
    const result = { kind: 'settled', outcomes: { verdicts, rows: [[0], [0]], shared: [] } } as const;
    expect(replay(anIntent({ rows: [0, 2] }), anOutcome({ result })).step(1).settledRows['in-doubt']).toBe(2);
  });

  test('is not changed by an outcome that belongs to none', () => {
    const progress = replay(anIntent(), anOutcome(), anOutcome(), split(), again(), anOutcome({ request: 9 })).step(1);
    expect([countSettledRequests(progress), progress.settledRows.accepted, progress.open.size]).toEqual([1, 10, 0]);
  });

  test('is of its step alone', () => {
    const state = replay(anIntent({ step: 1 }), anIntent({ step: 2 }), anOutcome({ step: 2 }));
    expect([state.step(1).open.size, state.step(2).open.size, state.step(3).open.size]).toEqual([1, 0, 0]);
    expect([countSettledRequests(state.step(1)), countSettledRequests(state.step(2))]).toEqual([0, 1]);
    expect([state.step(1).nextRequest, state.step(2).nextRequest, state.step(3).nextRequest]).toEqual([2, 2, 1]);
  });
});

const VERDICT = { status: 'accepted', code: '', reason: '' } as const;

describe('run state of a run', () => {
  test('keeps the first open', () => {
    expect(replay(anOpen({ at: 1 }), anIntent({ at: 50 }), anOpen({ at: 60 })).firstOpen?.at).toBe(1);
  });

  test.each<[string, readonly JournalEntry[], number | undefined]>([
    ['its opens say nothing', [anOpen({ at: 60 })], undefined],
    ['the latest of its intents', [anIntent({ at: 50 }), anIntent({ request: 2, at: 40 })], 50],
    ['an outcome: its request may have waited long for its turn', [anIntent({ at: 50 }), again({ at: 70 })], 70],
    ['what was made for a step', [{ type: 'prepared', step: 1, at: 80, ids: ['w1'] }], 80],
    ['the end of a step without rows', [{ type: 'acted', step: 1, at: 90, verdict: VERDICT }], 90],
  ])('last sent when the latest of its entries says: %s', (_, entries, at) => {
    expect(replay(...entries).lastSentAt).toBe(at);
  });

  test.each<[string, readonly JournalEntry[], boolean]>([
    ['an intent', [anIntent()], true],
    ['an intent and its outcome', [anIntent(), again()], false],
    ['halves that wait', [anIntent(), split()], false],
    ['an intent of any step', [anIntent({ step: 2 }), anIntent(), anOutcome()], true],
    ['something that a step needs', [{ type: 'preparing', step: 1, at: 1, what: 'create a webhook' }], true],
    ['a step without rows', [{ type: 'action', step: 1, at: 1 }], true],
    ['its end', [{ type: 'acted', step: 1, at: 2, verdict: VERDICT }], false],
  ])('behind %s may have something in flight: %s', (_, entries, isInFlight) => {
    expect(replay(...entries).isInFlight).toBe(isInFlight);
  });

  test('is finished by a close that says so, and by no other', () => {
    expect(replay(anOpen()).isFinished).toBe(false);
    expect(replay(anOpen(), aClose({ reason: 'interrupted' })).isFinished).toBe(false);
    expect(replay(anOpen(), aClose()).isFinished).toBe(true);
  });

  test('is open again after a new runner’s open', () => {
    const state = replay(anOpen(), aClose({ reason: 'unavailable' }), anOpen());
    expect([state.lastClose, state.isFinished]).toEqual([undefined, false]);
  });
});

test('the longest lease that a runner had in a database is known from then on, also from a snapshot', () => {
  const state = new RunState();
  const open = { type: 'open', version: 1, plan: 'p', at: 1, host: 'h', pid: 1 } as const;
  for (const leaseMs of [30_000, 60_000, 15_000]) state.apply({ ...open, leaseMs });
  state.apply(open);
  expect(state.leaseMs).toBe(60_000);
  expect(RunState.restore(state.snapshot()).leaseMs).toBe(60_000);
});

test('a request in flight says to which database it was given, also from a snapshot and where it was split', () => {
  const state = new RunState();
  const open = { type: 'open', version: 1, plan: 'p', at: 1, host: 'h', pid: 1 } as const;
  const intent = { type: 'intent', step: 1, part: '', at: 1, line: [0, 100], rows: [0, 2] } as const;
  state.apply({ ...open, leaseMs: 30_000, lead: 'a' });
  state.apply({ ...intent, request: 1 });
  const result = { kind: 'split', why: 'refused', areHalvesInFlight: true } as const;
  const restored = RunState.restore(state.snapshot());
  restored.apply({ type: 'outcome', step: 1, request: 1, part: '', at: 2, result });
  restored.apply({ ...intent, request: 2 });
  restored.apply(open);
  restored.apply({ ...intent, request: 3 });
  expect([...restored.step(1).open.values()].map(({ lead }) => lead)).toEqual(['a', 'a', 'a', undefined]);
});

const what = 'create a webhook "events"';
const preparing: JournalEntry = { type: 'preparing', step: 1, at: 2000, what };
const prepared: JournalEntry = { type: 'prepared', step: 1, at: 2001, ids: ['w1'] };
const unprepared = (why: 'not-made' | 'unknown'): JournalEntry => ({ type: 'unprepared', step: 1, at: 2001, why });
const refused = aClose({ reason: 'refused' });

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
    expect(replay(anOpen(), ...entries).step(1).preparing?.what).toBe(isOpen ? what : undefined);
  });

  test('keeps the ids of what was made before it', () => {
    expect(replay(anOpen(), preparing, prepared, preparing, unprepared('unknown'), refused).step(1).prepared).toEqual([
      'w1',
    ]);
  });

  test('counts as sent when it is about to be made', () => {
    expect(replay(anOpen(), preparing)).toMatchObject({ lastSentAt: 2000, isInFlight: true });
  });
});
