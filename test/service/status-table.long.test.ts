import { describe, expect, test } from 'vitest';
import { type ActionStepKind, isRowKind } from '../../src/domain/areas.js';
import { isRowStep } from '../../src/job/job.js';
import { kindOf } from '../../src/kinds/kinds.js';
import { oneIn } from '../one-in.js';
import { readPage, readRows, readSection } from '../pages/page.js';
import { aCsvOf, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from '../run/a-run.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { ownError } from './an-answer.js';
import { figuresOfKind, STATUS_KINDS } from './status-kinds.js';

const SECTION = readSection(readPage('jobs/reference/limits-and-answers.md'), 'What an answer means');
/** What happened, in the page's words: the first column of its table. */
const HAPPENED = readRows(SECTION).map(([cell = '']) => cell);

/** What becomes of eight messages in four batches, and of four rows one by one, when the first request is answered so. */
type Fate =
  /** It was not processed, or may be repeated: sent again, and accepted. */
  | 'again'
  /** Held, and the rest is sent. */
  | 'in doubt'
  /** The row at fault, alone; the rest is sent. */
  | 'rejected'
  /** Neither it nor the rest is sent, until a person has looked. */
  | 'stopped'
  | 'in doubt, stopped';

interface StatusClass {
  /** Begins the page's cell, or stands in it. */
  readonly row: string;
  readonly statuses: readonly number[];
  /** With the service's own error body; else with none. */
  readonly isOwn: boolean;
  readonly sms: Fate;
  /** Of what may be sent again, as contacts may. */
  readonly repeatable: Fate;
}

/** Of a hundred that mean the same, a part with each commit. */
const partOf = (statuses: readonly number[]) => (statuses.length < 10 ? statuses : oneIn(5, statuses));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const BUSY = [429, 503];
/** What something in between says of a connection that ended, also when it had passed the request on. */
const INTERMEDIARY_STATUSES = [408, 460, 499];
const STOPPING = [401, 403];
const without = (statuses: readonly number[], ...others: readonly number[][]) =>
  statuses.filter((status) => !others.flat().includes(status));

const REFUSING = without(range(400, 499), BUSY, STOPPING, INTERMEDIARY_STATUSES);

const CLASSES: readonly StatusClass[] = [
  { row: '429, 503 with', isOwn: true, statuses: BUSY, sms: 'again', repeatable: 'again' },
  { row: '429, 503 from', isOwn: false, statuses: BUSY, sms: 'in doubt', repeatable: 'again' },
  { row: '2xx that is empty', isOwn: false, statuses: range(200, 299), sms: 'in doubt', repeatable: 'in doubt' },
  { row: '400, 422 and other 4xx with', isOwn: true, statuses: REFUSING, sms: 'rejected', repeatable: 'rejected' },
  { row: '4xx from', isOwn: false, statuses: REFUSING, sms: 'in doubt', repeatable: 'again' },
  { row: '401, 403 with', isOwn: true, statuses: STOPPING, sms: 'stopped', repeatable: 'stopped' },
  { row: '401, 403 from', isOwn: false, statuses: STOPPING, sms: 'in doubt, stopped', repeatable: 'stopped' },
  { row: 'any 3xx', isOwn: false, statuses: range(300, 399), sms: 'in doubt, stopped', repeatable: 'stopped' },
  {
    // With those that no one names: the service had the request, and did not say what became of it.
    row: '408, 460, 499, 500, 502, 504',
    isOwn: false,
    statuses: [...range(100, 199), ...INTERMEDIARY_STATUSES, ...without(range(500, 599), BUSY)],
    sms: 'in doubt',
    repeatable: 'again',
  },
];

const SMS = aPlan({
  job: { steps: [anSmsStep({ batchSize: 2, limits: someLimits({ concurrency: 1 }) })] },
  files: { 'people.csv': aCsvOf(8) },
});

/** Rows, and requests: a refused batch is sent in two halves. What must not be repeated begins with a probe, alone. */
const SMS_FIGURES: Readonly<Record<Fate, readonly number[]>> = {
  // Accepted, in doubt, rejected, unprocessed; requests; exit code.
  again: [8, 0, 0, 0, 5, 0],
  'in doubt': [6, 2, 0, 0, 4, 3],
  rejected: [7, 0, 1, 0, 6, 1],
  stopped: [0, 0, 0, 8, 1, 4],
  'in doubt, stopped': [0, 2, 0, 6, 1, 4],
};

/** Figures of a run whose first request is answered with the status; of a batch that is refused, so is the half with its first row. */
async function figuresOf(status: number, isOwn: boolean): Promise<number[]> {
  const { plan, directory, disk } = await SMS;
  const copied = Object.entries(disk.snapshot('/out')).map(([path, text]) => [`/out/${path}`, text]);
  const made = { plan, directory, disk: aMemoryDisk(Object.fromEntries(copied)) };
  const service = aScriptedService(({ rows }, count) => {
    const isHalfAtFault = rows.length === 1 && rows[0] === 0;
    const body = isOwn ? ownError('sms', 1000, 'as the test wants it') : '';
    return count === 1 || isHalfAtFault ? response(status, body) : undefined;
  });
  await aRun({ made, service });
  const { balance, exitCode } = await reportOf(made);
  const { accepted, inDoubt, rejected, unprocessed } = balance;
  return [accepted, inDoubt, rejected, unprocessed, service.sent.length, exitCode];
}

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

test.each(CLASSES)(
  'rows of sms whose request is answered with a status of "$row" end as $sms',
  async ({ statuses, isOwn, sms }) => {
    for (const status of partOf(statuses)) {
      expect([status, ...(await figuresOf(status, isOwn))]).toEqual([status, ...SMS_FIGURES[sms]]);
    }
  },
);

/** Of one row a request, which is sent once: the class says the same as of sms. Nothing but a session says what became of its check, and it still waits. */
const SENT_ONCE: Readonly<Record<Fate, readonly number[]>> = {
  again: [4, 0, 0, 0, 5, 0],
  'in doubt': [3, 1, 0, 0, 4, 3],
  rejected: [3, 0, 1, 0, 4, 1],
  stopped: [0, 0, 0, 4, 1, 4],
  'in doubt, stopped': [0, 1, 0, 3, 1, 4],
};
/** Of one that may be repeated: a second one is in flight when the first one stops the run. */
const REPEATABLE: Readonly<Record<Fate, readonly number[]>> = {
  ...SENT_ONCE,
  stopped: [1, 0, 0, 3, 2, 4],
  'in doubt, stopped': [1, 1, 0, 2, 2, 4],
};
/** A change that was not made, of which nothing says that it was made, stops the run before the rows behind it. */
const UNCHANGED = [0, 0, 0, 4, 1, 4];
const ACTION_FIGURES: Readonly<Record<ActionStepKind, Readonly<Record<Fate, readonly number[]>>>> = {
  campaign: {
    again: [4, 0, 0, 0, 2, 0],
    'in doubt': UNCHANGED,
    rejected: UNCHANGED,
    stopped: UNCHANGED,
    'in doubt, stopped': UNCHANGED,
  },
  // Stops nothing, and counts as a row does; the rows before it are accepted.
  chat: {
    again: [4, 0, 0, 0, 2, 0],
    'in doubt': [4, 0, 0, 0, 1, 3],
    rejected: [4, 0, 0, 0, 1, 1],
    stopped: [4, 0, 0, 0, 1, 1],
    'in doubt, stopped': [4, 0, 0, 0, 1, 3],
  },
};

describe.each(Object.entries(STATUS_KINDS))('a job with %s', (kind, { steps }) => {
  const isRepeatable = steps.every((step) => isRowStep(step) && kindOf(step).isRepeatable(step));
  const ofRows = isRepeatable ? REPEATABLE : SENT_ONCE;
  const figures = isRowKind(kind) ? ofRows : ACTION_FIGURES[kind as ActionStepKind];
  test.each(CLASSES)(
    'whose first request is answered with a status of "$row" ends as that class says',
    async ({ statuses, isOwn, sms, repeatable }) => {
      const wanted = figures[isRepeatable ? repeatable : sms];
      for (const status of partOf(statuses)) {
        expect([status, ...(await figuresOfKind(kind, status, isOwn))]).toEqual([status, ...wanted]);
      }
    },
  );
});
