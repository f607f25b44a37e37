import { describe, expect, test } from 'vitest';
import { type ActionStepKind, isRowKind, ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import { type ChatStep, isRowStep, type Step } from '../../src/job/job.js';
import { kindOf } from '../../src/kinds/kinds.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { fillOne } from '../job/a-job-file.js';
import { arrivedAs, COLUMNS, EXAMPLES, rowOf } from '../kinds/examples.js';
import { oneIn } from '../one-in.js';
import { readPage, readRows, readSection } from '../pages/page.js';
import { anInput, anSmsStep, makeAPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from '../run/a-run.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { Service } from '../world/service.js';
import { ownError } from './an-answer.js';

const SECTION = readSection(readPage('jobs/reference/limits-and-answers.md'), 'What an answer means');
/** What happened, in the page's words: the first column of its table. */
const HAPPENED = readRows(SECTION).map(([cell = '']) => cell);

/** What becomes of four rows, one by one or in two batches, when the first request is answered so. */
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

const limits = someLimits({ concurrency: 1 });
const sms = anSmsStep({ limits });
const campaign = { kind: 'campaign', campaign: 101, expect: undefined, set: 'PAUSED', always: false, limits } as const;
const chat: ChatStep = { kind: 'chat', text: 'done', room: undefined, when: 'always', limits };

/** The steps of a job, and which of its requests the status is the answer to. */
interface StatusKind {
  readonly steps: readonly Step[];
  readonly isAsked: (call: Call) => boolean;
  /** Of one run; what it does not answer is accepted, as SMS are. */
  readonly createService?: () => (call: Call) => Answer | undefined;
  /** Answered so as well: of a refused batch, the half with the row at fault. */
  readonly isAtFault?: (call: Call) => boolean;
}

/** What a kind with one row a request does with four rows. */
function ofRows(kind: RowKind): StatusKind {
  const { step, rowsIn } = EXAMPLES[kind];
  const written = fillOne(kind, { kind, input: { files: 'people.csv' }, ...step(COLUMNS) });
  return {
    steps: [{ ...written, input: anInput(), limits }],
    isAsked: (call) => rowsIn(arrivedAs(call)).length > 0,
    createService: () => {
      const service = new Service();
      service.holdSessions(ROWS);
      return (call) => {
        const { status, body, headers } = service.process(arrivedAs(call), 0);
        return response(status, body, headers);
      };
    },
  };
}

const STATUS_KINDS: Readonly<Record<string, StatusKind>> = {
  ...Object.fromEntries(
    (Object.keys(ROW_KINDS) as RowKind[]).flatMap((kind) =>
      EXAMPLES[kind].batchKey === undefined ? [[kind, ofRows(kind)]] : [],
    ),
  ),
  sms: {
    steps: [anSmsStep({ batchSize: 2, limits })],
    isAsked: () => true,
    isAtFault: ({ body }) => {
      const { messages } = JSON.parse(String(body));
      return messages.length === 1 && messages[0].clientMessageId.endsWith('-0');
    },
  },
  campaign: {
    steps: [campaign, sms],
    isAsked: ({ path }) => path.includes('/tstats/'),
    createService:
      () =>
      ({ method, path }) => {
        if (path.includes('/tstats/')) return response(200, { message: 'changed' });
        const running = { 'campaign-name': 'c', 'campaign-id': 101, enabled: 'Y', 'dynamic-campaign': 'Y', status: 3 };
        return method === 'GET' ? response(200, { campaign: running }) : undefined;
      },
  },
  chat: {
    steps: [sms, chat],
    isAsked: ({ path }) => path.includes('/chat/'),
    createService: () => (call) => (call.path.includes('/chat/') ? response(200, { parsed: 'done' }) : undefined),
  },
};

const ROWS = [1, 2, 3, 4].map(rowOf);
const PEOPLE = ROWS.map((row) => `${Object.values(row).join(',')}\n`).join('');
const FILES = { 'people.csv': `name,mobile,session,code\n${PEOPLE}` };
const plans = new Map<string, ReturnType<typeof planOf>>();

/** Figures of a run in which the first of the kind's own requests is answered with the status, and the others well. */
async function figuresOfKind(name: string, status: number, isOwn: boolean): Promise<number[]> {
  const { steps, isAsked, isAtFault, createService } = STATUS_KINDS[name]!;
  const planned = plans.get(name) ?? planOf(steps);
  plans.set(name, planned);
  const { plan, directory, disk } = await planned;
  const copied = Object.entries(disk.snapshot('/out')).map(([path, text]) => [`/out/${path}`, text]);
  const made = { plan, directory, disk: aMemoryDisk(Object.fromEntries(copied)) };
  const messages = aScriptedService();
  const accept = createService?.();
  let asked = 0;
  const send = async (call: Call, signal: AbortSignal | undefined): Promise<Answer> => {
    const isCounted = isAsked(call);
    if (isCounted) asked += 1;
    if (isCounted && (asked === 1 || isAtFault?.(call))) {
      return response(status, isOwn ? ownError(call.area ?? 'sms', 1000, 'as the test wants it') : '');
    }
    return accept?.(call) ?? messages.transport.send(call, signal);
  };
  await aRun({ made, service: { transport: { ...messages.transport, send } } });
  const { balance, exitCode } = await reportOf(made);
  const { accepted, inDoubt, rejected, unprocessed } = balance;
  return [accepted, inDoubt, rejected, unprocessed, asked, exitCode];
}

async function planOf(steps: readonly Step[]) {
  const { made, disk } = await makeAPlan({ job: { steps }, files: FILES });
  if (made === undefined) throw new Error('there was nothing to plan');
  return { ...made, disk };
}

/** Accepted, in doubt, rejected, unprocessed; requests; exit code. Of one row a request, which is sent once. Nothing but a session says what became of its check, and it still waits. */
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
/** Of two batches: a refused one is sent in two halves. */
const BATCHES: Readonly<Record<Fate, readonly number[]>> = {
  again: [4, 0, 0, 0, 3, 0],
  'in doubt': [2, 2, 0, 0, 2, 3],
  rejected: [3, 0, 1, 0, 4, 1],
  stopped: [0, 0, 0, 4, 1, 4],
  'in doubt, stopped': [0, 2, 0, 2, 1, 4],
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
  const ofRows = kind === 'sms' ? BATCHES : isRepeatable ? REPEATABLE : SENT_ONCE;
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
