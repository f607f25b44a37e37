import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JournalEntry } from '../../src/journal/entry-format.js';
import { countSettledRequests, RunState, type StepProgress } from '../../src/journal/replay.js';
import { runsOf } from '../one-in.js';
import { anIntent, anOutcome, aSettlement } from './builders.js';

const REQUESTS = 8;
const LINE_BYTES = 100;
const linePlace = (request: number) => [(request - 1) * LINE_BYTES, LINE_BYTES] as const;

type Part = Readonly<{ rows: readonly [first: number, count: number]; isInFlight: boolean }>;

/** The same thing said slowly: which requests were begun, which of their parts are open, how many rows are settled. */
class Model {
  readonly begun = new Set<number>();
  readonly open = new Map<string, Part>();
  rowsSettled = 0;
  readonly #rowsOf: readonly number[];

  constructor(rowsOf: readonly number[]) {
    this.#rowsOf = rowsOf;
  }

  /** Begins a request that was not begun, or sends a waiting part again. */
  begin(pick: number): JournalEntry | undefined {
    const fresh = this.#rowsOf.map((_, index) => index + 1).filter((request) => !this.begun.has(request));
    const waiting = this.#parts(false);
    const keys = [...fresh.map((request) => `${request}/`), ...waiting];
    const key = keys[pick % keys.length];
    if (key === undefined) return undefined;
    const [request, part] = splitKey(key);
    const rows = this.open.get(key)?.rows ?? ([0, this.#rowsOf[request - 1]!] as const);
    this.begun.add(request);
    this.open.set(key, { rows, isInFlight: true });
    return anIntent({ request, part, rows, line: linePlace(request) });
  }

  end(pick: number, kind: 'again' | 'split' | 'settled'): JournalEntry | undefined {
    const keys = this.#parts(true);
    const key = keys[pick % keys.length];
    const part = key === undefined ? undefined : this.open.get(key);
    if (key === undefined || part === undefined) return undefined;
    const [request, path] = splitKey(key);
    const [first, count] = part.rows;
    if (kind === 'again') {
      this.open.set(key, { ...part, isInFlight: false });
      return anOutcome({ request, part: path, result: { kind, why: '' } });
    }
    this.open.delete(key);
    if (kind === 'split' && count > 1) {
      const half = count - Math.floor(count / 2);
      this.open.set(`${key}0`, { rows: [first, half], isInFlight: false });
      this.open.set(`${key}1`, { rows: [first + half, count - half], isInFlight: false });
      return anOutcome({ request, part: path, result: { kind, why: '' } });
    }
    this.rowsSettled += count;
    return anOutcome({ request, part: path, result: aSettlement(count) });
  }

  get nextRequest(): number {
    let next = 1;
    while (this.begun.has(next)) next += 1;
    return next;
  }

  get settledRequests(): number {
    const open = new Set([...this.open.keys()].map((key) => splitKey(key)[0]));
    return [...this.begun].filter((request) => !open.has(request)).length;
  }

  #parts(isInFlight: boolean): string[] {
    return [...this.open].filter(([, part]) => part.isInFlight === isInFlight).map(([key]) => key);
  }
}

function splitKey(key: string): [request: number, part: string] {
  const [request, part] = key.split('/');
  return [Number(request), part ?? ''];
}

function expectSame(progress: StepProgress, model: Model): void {
  expect(progress).toMatchObject({ nextRequest: model.nextRequest, nextOffset: (model.nextRequest - 1) * LINE_BYTES });
  const ahead = [...model.begun].filter((request) => request > model.nextRequest).sort();
  expect([...progress.begunAhead.keys()].sort()).toEqual(ahead);
  for (const [request, offset] of progress.begunAhead) expect(offset).toBe(request * LINE_BYTES);
  expect(countSettledRequests(progress)).toBe(model.settledRequests);
  expect(progress.settledRows.accepted).toBe(model.rowsSettled);
  const open = [...progress.open.values()].map(({ request, part, rows, isInFlight, line }) => {
    expect(line).toEqual(linePlace(request));
    return [`${request}/${part}`, { rows, isInFlight }] as const;
  });
  expect(new Map(open)).toEqual(model.open);
}

const anyCommand = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('begin' as const), pick: fc.nat(50) }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constantFrom('again', 'split', 'settled', 'settled'), pick: fc.nat(50) }),
  },
);

test('run state agrees with a simple model, in whatever order requests are begun, split and settled', () => {
  const rowsOf = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: REQUESTS, maxLength: REQUESTS });
  fc.assert(
    fc.property(rowsOf, fc.array(anyCommand, { maxLength: 120 }), (rows, commands) => {
      const model = new Model(rows);
      const state = new RunState();
      for (const { does, pick } of commands) {
        const entry = does === 'begin' ? model.begin(pick) : model.end(pick, does);
        if (entry === undefined) continue;
        state.apply(entry);
        expectSame(state.step(1), model);
      }
    }),
    { numRuns: runsOf(200) },
  );
});
