import { describe, expect, test } from 'vitest';
import type { ActionStepKind } from '../../src/domain/areas.js';
import type { Step } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { oneIn } from '../one-in.js';
import { readPage, readRows, readSection } from '../pages/page.js';
import { anSmsStep, makeAPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from '../run/a-run.js';
import { aResponse, ownError } from './an-answer.js';

const SECTION = readSection(readPage('jobs/reference/limits-and-answers.md'), 'What an answer means');
/** What happened, in the page's words: the first column of its table. */
const HAPPENED = readRows(SECTION).map(([cell = '']) => cell);

/** What becomes of a request that may not be repeated. */
type Fate =
  /** It was not processed: sent again, and accepted. */
  | 'again'
  | 'in doubt'
  | 'rejected'
  /** Nothing more is sent, until a person has looked. */
  | 'stopped'
  | 'in doubt, stopped';

interface StatusClass {
  /** Begins the page's cell, or stands in it. */
  readonly row: string;
  readonly statuses: readonly number[];
  /** With the service's own error body; else with none. */
  readonly isOwn: boolean;
  readonly fate: Fate;
}

/** One of those that mean the same with each commit: that a class has no exception is shown by decide-answer.test.ts. */
const partOf = (statuses: readonly number[]) => oneIn(statuses.length, statuses);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const BUSY = [429, 503];
/** What something in between says of a connection that ended, also when it had passed the request on. */
const INTERMEDIARY_STATUSES = [408, 460, 499];
const STOPPING = [401, 403];
const without = (statuses: readonly number[], ...others: readonly number[][]) =>
  statuses.filter((status) => !others.flat().includes(status));

const REFUSING = without(range(400, 499), BUSY, STOPPING, INTERMEDIARY_STATUSES);

const CLASSES: readonly StatusClass[] = [
  { row: '429, 503 with', isOwn: true, statuses: BUSY, fate: 'again' },
  { row: '429, 503 from', isOwn: false, statuses: BUSY, fate: 'in doubt' },
  { row: '2xx that is empty', isOwn: false, statuses: range(200, 299), fate: 'in doubt' },
  { row: '400, 422 and other 4xx with', isOwn: true, statuses: REFUSING, fate: 'rejected' },
  { row: '4xx from', isOwn: false, statuses: REFUSING, fate: 'in doubt' },
  { row: '401, 403 with', isOwn: true, statuses: STOPPING, fate: 'stopped' },
  { row: '401, 403 from', isOwn: false, statuses: STOPPING, fate: 'in doubt, stopped' },
  { row: 'any 3xx', isOwn: false, statuses: range(300, 399), fate: 'in doubt, stopped' },
  {
    // With those that no one names: the service had the request, and did not say what became of it.
    row: '408, 460, 499, 500, 502, 504',
    isOwn: false,
    statuses: [...range(100, 199), ...INTERMEDIARY_STATUSES, ...without(range(500, 599), BUSY)],
    fate: 'in doubt',
  },
];

test('every status from 100 to 599 has one class, where the body is not an error of the service', () => {
  const classes = CLASSES.filter(({ isOwn }) => !isOwn);
  expect(classes.flatMap(({ statuses }) => statuses).sort((a, b) => a - b)).toEqual(range(100, 599));
});

test.each(CLASSES)('the page names the class of $row, and no status of another class in it', ({ row, statuses }) => {
  const cells = HAPPENED.filter((cell) => cell.includes(row));
  expect(cells).toHaveLength(1);
  const named = [...cells[0]!.matchAll(/\b[1-5]\d\d\b/g)].map(([status]) => Number(status));
  expect(named.filter((status) => !statuses.includes(status))).toEqual([]);
});

test('the page names no status twice, save where it says which service or which code it speaks of', () => {
  const general = HAPPENED.filter((cell) => !/ (with|from) /.test(cell));
  const named = general.flatMap((cell) => [...cell.matchAll(/\b[1-5]\d\d\b/g)].map(([status]) => status));
  expect(named.length).toBeGreaterThan(8);
  expect(new Set(named).size).toBe(named.length);
});

const limits = someLimits();
const sms = anSmsStep({ limits });
/** A step without rows, and the rows behind or before it. */
const STEPS: Readonly<Record<ActionStepKind, readonly Step[]>> = {
  campaign: [{ kind: 'campaign', campaign: 101, expect: undefined, set: 'PAUSED', always: false, limits }, sms],
  chat: [sms, { kind: 'chat', text: 'done', room: undefined, when: 'always', limits }],
};
const RUNNING = { 'campaign-name': 'c', 'campaign-id': 101, enabled: 'Y', 'dynamic-campaign': 'Y', status: 3 };

/** Figures of a run in which the first request of the kind's own is answered with the status, and the others well. */
async function figuresOf(kind: ActionStepKind, status: number, isOwn: boolean): Promise<number[]> {
  const { made: planned, disk } = await makeAPlan({ job: { steps: STEPS[kind] } });
  const made = { ...planned!, disk };
  const messages = aScriptedService();
  let asked = 0;
  const send = async (call: Call, signal: AbortSignal | undefined): Promise<Answer> => {
    if (call.path.includes('/batch')) return messages.transport.send(call, signal);
    if (call.method === 'GET') return response(200, { campaign: RUNNING });
    asked += 1;
    if (asked === 1) return aResponse(isOwn ? ownError(kind, 1000, 'as the test wants it') : '<html>', status);
    return response(200, { message: 'changed', parsed: 'done' });
  };
  await aRun({ made, service: { transport: { ...messages.transport, send } } });
  const { balance, exitCode } = await reportOf(made);
  return [balance.accepted, balance.inDoubt, balance.rejected, balance.unprocessed, asked, exitCode];
}

/** A change that was not made, of which nothing says that it was made, stops the run before the rows behind it. */
const UNCHANGED = [0, 0, 0, 3, 1, 4];
/** Accepted, in doubt, rejected, unprocessed; requests of its own; exit code. That of rows: test/faults. */
const FIGURES: Readonly<Record<ActionStepKind, Readonly<Record<Fate, readonly number[]>>>> = {
  campaign: {
    again: [3, 0, 0, 0, 2, 0],
    'in doubt': UNCHANGED,
    rejected: UNCHANGED,
    stopped: UNCHANGED,
    'in doubt, stopped': UNCHANGED,
  },
  // Stops nothing, and counts as a row does; the rows before it are accepted.
  chat: {
    again: [3, 0, 0, 0, 2, 0],
    'in doubt': [3, 0, 0, 0, 1, 3],
    rejected: [3, 0, 0, 0, 1, 1],
    stopped: [3, 0, 0, 0, 1, 1],
    'in doubt, stopped': [3, 0, 0, 0, 1, 3],
  },
};

describe.each(['campaign', 'chat'] as const)('a job with %s', (kind) => {
  test.each(CLASSES)(
    'whose first request is answered with a status of "$row" ends as that class says',
    async ({ statuses, isOwn, fate }) => {
      for (const status of partOf(statuses)) {
        expect([status, ...(await figuresOf(kind, status, isOwn))]).toEqual([status, ...FIGURES[kind][fate]]);
      }
    },
  );
});
