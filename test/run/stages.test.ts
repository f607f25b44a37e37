import { describe, expect, it } from 'vitest';
import { PLAIN_SCREEN } from '../../src/command/screen.js';
import type { RampStage, SmsStep } from '../../src/job/job.js';
import { assertStagePassed } from '../../src/run/send/sending-stages.js';
import { StopSwitch } from '../../src/run/stop.js';
import { formatSummary } from '../../src/texts/summary-text.js';
import { aCsvOf, anSmsStep, aPlan, linesOf, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import {
  aFakeClock,
  aRun,
  aScriptedService,
  duplicatesAmong,
  entriesOf,
  journalOf,
  reportOf,
  response,
  rowsOfMessages,
  type Script,
  writeJournal,
} from './a-run.js';

const HOUR = 3_600_000;
const ROWS = 60;

async function aStagedPlan(stages: readonly Partial<RampStage>[]) {
  const ramp = stages.map((stage) => ({ size: { percent: 10 }, stopAbove: { rejectedPercent: 10 }, ...stage }));
  const step = anSmsStep({ ramp, batchSize: 5, limits: someLimits({ concurrency: 3 }) });
  return aPlan({ files: { 'people.csv': aCsvOf(ROWS) }, job: { steps: [step] } });
}

/** Planned rows of a stage. */
const rowsIn = ({ requests }: MadePlan, stage: number) =>
  requests.flatMap((each) =>
    each.stage === stage ? Array.from({ length: each.rows }, (_, at) => each.first + at) : [],
  );

const sorted = (rows: readonly number[]) => rows.toSorted((a, b) => a - b);
const pass = (stage: number) => ({ pass: { stage, by: 'ann on here' } });
const refuse = response(400, { code: 1002, message: 'not today' });

/** No request of a stage has its intent before the one before it has passed; gives what was said of the stages. */
function expectGates(made: MadePlan) {
  const entries = entriesOf(made.disk, made.directory);
  const stageOf = new Map(made.requests.map(({ request, stage = 0 }) => [request, stage]));
  let passed = 0;
  for (const entry of entries) {
    if (entry.type === 'stage' && entry.verdict === 'passed') passed = entry.number;
    if (entry.type === 'intent') expect(stageOf.get(entry.request)).toBeLessThanOrEqual(passed + 1);
  }
  return entries.filter(({ type }) => type === 'stage');
}

describe('a run with stages', () => {
  it('sends one after the other, each row once, and notes what became of each before the next', async () => {
    const made = await aStagedPlan([{}, { size: { percent: 30 } }]);
    const service = aScriptedService();
    expect((await aRun({ made, service })).end.reason).toBe('finished');
    const first = rowsIn(made, 1);
    expect([first.length, rowsIn(made, 2).length, rowsIn(made, 3).length]).toEqual([6, 18, 36]);
    expect(rowsOfMessages(service.accepted.slice(0, 6))).toEqual(sorted(first));
    expect(rowsOfMessages(service.accepted)).toEqual(Array.from({ length: ROWS }, (_, at) => at));
    expect(expectGates(made)).toMatchObject([
      { number: 1, verdict: 'passed', by: 'ramp', figures: { accepted: 6 } },
      { number: 2, verdict: 'passed', by: 'ramp', figures: { accepted: 18 } },
    ]);
    const expected = { exitCode: 0, steps: [{ stages: { rows: [6, 18, 36], passed: 2, waiting: null } }] };
    expect(await reportOf(made)).toMatchObject(expected);
  });

  it('waits for the pause of a stage behind its last answer, and says until when', async () => {
    const made = await aStagedPlan([{ pauseMs: 2 * HOUR }]);
    const clock = aFakeClock();
    const start = clock.now();
    const at: number[] = [];
    const service = aScriptedService(() => void at.push(clock.now() - start));
    const { notices } = await aRun({ made, service, deps: { clock } });
    expect(at.slice(0, 2).concat(at.slice(-1))).toEqual([0, 0, 2 * HOUR]);
    expect(notices.filter((notice) => notice.includes('is judged on'))).toEqual([
      expect.stringMatching(
        /^step 1: stage 1 is sent; it is judged on \d+ \w+ 2027 at \d\d:\d\d UTC, and the run waits for that$/,
      ),
    ]);
  });

  it('can be stopped while it waits, and then waits for what is left', async () => {
    const made = await aStagedPlan([{ pauseMs: 2 * HOUR }]);
    const clock = aFakeClock();
    const stop = new StopSwitch();
    const sleep = async (delayMs: number) => {
      clock.advance(delayMs);
      if (clock.monotonicMs() >= HOUR) stop.request('interrupted', 'SIGTERM');
    };
    const service = aScriptedService();
    const { end } = await aRun({ made, service, stop, deps: { clock: { ...clock, sleep } } });
    expect([end.reason, service.accepted.length]).toEqual(['interrupted', 6]);
    const before = clock.monotonicMs();
    expect((await aRun({ made, service, epoch: 2, deps: { clock } })).end.reason).toBe('finished');
    expect(clock.monotonicMs() - before).toBe(HOUR);
    expect(rowsOfMessages(service.accepted)).toEqual(Array.from({ length: ROWS }, (_, at) => at));
  });

  it('stops where too many of a stage are rejected, and sends the rest only once a person lets it pass', async () => {
    const made = await aStagedPlan([{}]);
    const bad: Script = ({ rows }) => (rows.some((row) => row === rowsIn(made, 1)[2]) ? refuse : undefined);
    const service = aScriptedService(bad);
    const { end } = await aRun({ made, service });
    expect(end).toEqual({
      reason: 'held',
      detail:
        'step 1: stage 1 does not pass (5 rows accepted, 1 rejected; 1 of 6 were not accepted, more than rejectedPercent 10)',
    });
    expect(await reportOf(made)).toMatchObject({ exitCode: 4, balance: { accepted: 5, rejected: 1, unprocessed: 54 } });
    const again = aScriptedService();
    expect((await aRun({ made, service: again, epoch: 2 })).end.reason).toBe('held');
    expect(again.sent).toEqual([]);
    expect((await aRun({ made, service: again, epoch: 3, ...pass(1) })).end.reason).toBe('finished');
    expect(again.accepted.length).toBe(54);
    expect(duplicatesAmong([...service.accepted, ...again.accepted])).toEqual([]);
    expect(expectGates(made)).toMatchObject([
      { verdict: 'held', by: 'ramp' },
      { verdict: 'passed', by: 'person ann on here' },
    ]);
  });

  it('counts rows in doubt as bad', async () => {
    const made = await aStagedPlan([{}]);
    const service = aScriptedService(({ rows }) =>
      rows.includes(rowsIn(made, 1)[0] ?? -1) ? response(200, { messages: [] }) : undefined,
    );
    const expected = { reason: 'held', detail: expect.stringContaining('in doubt') };
    expect((await aRun({ made, service })).end).toMatchObject(expected);
  });
});

function receiptOf(made: MadePlan, row: number, state = 'delivered'): string {
  const planned = made.rows.filter((each) => each.state === 'planned');
  return aReceiptLine(made, row, { state, payload: { destination: planned[row]?.facts[0] } });
}

it('a run with stages and a window waits for the hours of those whose stage has come, though others of the next are open', async () => {
  const numbers = [...Array(20).keys()].flatMap((at) => [`+65912345${10 + at}`, `+4915112345${100 + at}`]);
  const window = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '20:00', timeZone: 'recipient' };
  const ramp = [{ size: { percent: 50 } }];
  const step = anSmsStep({ ramp, window: { ...window, unknown: 'reject', outside: 'stop' } as SmsStep['window'] });
  // Tuesday: 11:00 in Singapore, 04:00 in Berlin; then 18:00 and 11:00.
  const [night, day] = ['2026-12-01T03:00:00Z', '2026-12-01T10:00:00Z'].map((at) => Date.parse(at)) as [number, number];
  const files = { 'people.csv': `mobile\n${numbers.join('\n')}\n` };
  const made = await aPlan({ files, job: { steps: [step] }, nowMs: night });
  const rowsWith = (hours: string, stages: readonly number[]) =>
    made.requests
      .filter((each) => each.hours === hours && stages.includes(each.stage ?? 0))
      .reduce((sum, { rows }) => sum + rows, 0);
  const service = aScriptedService();
  const first = await aRun({ made, service, deps: { clock: { ...aFakeClock(), now: () => night } } });
  expect(first.end.reason).toBe('closed');
  expect(service.accepted.length).toBe(rowsWith('SG', [1]));
  const second = await aRun({ made, service, epoch: 2, deps: { clock: { ...aFakeClock(), now: () => day } } });
  expect(second.end.reason).toBe('finished');
  expect(service.accepted.slice(0, 20).length + rowsWith('SG', [2]) + rowsWith('DE', [2])).toBe(40);
  expect(new Set(service.accepted).size).toBe(40);
  expectGates(made);
});

describe('receipts of a stage', () => {
  const asked = { pauseMs: HOUR, needReceiptsPercent: 50, stopAbove: { rejectedPercent: 10, undeliveredPercent: 20 } };

  async function endWith(stage: Partial<RampStage>, states: readonly string[]) {
    const made = await aStagedPlan([stage]);
    const rows = rowsIn(made, 1);
    // Those of other stages say nothing of this one.
    const others = rowsIn(made, 2).map((row) => receiptOf(made, row));
    receive(made, ...others, ...states.map((state, at) => receiptOf(made, rows[at] ?? -1, state)));
    return (await aRun({ made })).end;
  }

  it.each([
    ['none where a share is needed', asked, [], 'held'],
    ['none where they are only to be looked at', { ...asked, needReceiptsPercent: undefined }, [], 'held'],
    ['none though none is needed', { pauseMs: HOUR, needReceiptsPercent: 0 }, [], 'held'],
    ['too few', asked, ['delivered', 'delivered'], 'held'],
    ['such that say nothing', asked, ['queued', 'sent', 'sent', 'queued', 'sent', 'sent'], 'held'],
    ['enough', asked, ['delivered', 'read', 'delivered'], 'finished'],
    [
      'enough, one of five not delivered',
      asked,
      ['delivered', 'delivered', 'undelivered', 'delivered', 'delivered'],
      'finished',
    ],
    ['too many not delivered', asked, ['delivered', 'delivered', 'undelivered', 'delivered', 'rejected'], 'held'],
  ] as const)('%s', async (_, stage, states, reason) => {
    expect((await endWith(stage, states)).reason).toBe(reason);
  });

  it('that came since let a stage pass that was held, and no fewer', async () => {
    const made = await aStagedPlan([asked]);
    const rows = rowsIn(made, 1);
    const service = aScriptedService();
    const resume = async (epoch: number) => {
      await assertStagePassed(made.disk.files, made, undefined);
      return (await aRun({ made, service, epoch })).end.reason;
    };
    expect((await aRun({ made, service })).end.reason).toBe('held');
    const view = { isSandbox: false, nowMs: 0, screen: { ...PLAIN_SCREEN, columns: 200 } };
    expect(formatSummary(await reportOf(made), view)).toContain('the same command judges it again, by the receipts');
    receive(made, ...rows.slice(0, 2).map((row) => receiptOf(made, row)));
    await expect(resume(2)).rejects.toMatchObject({ code: 'guard', hint: expect.stringContaining('judges it again') });
    // Also where one gets by that.
    expect((await aRun({ made, service, epoch: 2 })).end.reason).toBe('held');
    receive(made, ...rows.slice(0, 3).map((row) => receiptOf(made, row)));
    expect(await resume(3)).toBe('finished');
    expect(expectGates(made)).toMatchObject([
      { verdict: 'held', by: 'ramp', receipts: { delivered: 0 } },
      { verdict: 'passed', by: 'ramp', receipts: { delivered: 3 } },
    ]);
    expect(rowsOfMessages(service.accepted)).toEqual(Array.from({ length: ROWS }, (_, at) => at));
  });

  it('are not needed where nothing says so', async () => {
    expect((await endWith({}, [])).reason).toBe('finished');
  });

  it('says what is missing', async () => {
    expect((await endWith(asked, ['delivered'])).detail).toBe(
      'step 1: stage 1 does not pass (6 rows accepted, 1 delivered; 1 final receipt of 6 messages, needReceiptsPercent is 50)',
    );
  });
});

it('a run that is cut off behind any line of its journal sends no row twice, and begins no stage before its time', async () => {
  const made = await aStagedPlan([{ pauseMs: HOUR }, { size: { percent: 30 } }]);
  await aRun({ made });
  const lines = linesOf(journalOf(made));
  for (let kept = 1; kept < lines.length; kept += 1) {
    writeJournal(made, lines.slice(0, kept));
    const before = entriesOf(made.disk, made.directory);
    const begun = new Set(before.flatMap((entry) => (entry.type === 'intent' ? [entry.request] : [])));
    const service = aScriptedService();
    const { end } = await aRun({ made, service, epoch: 2 });
    const judged = expectGates(made).length;
    const left = made.requests.filter(({ request }) => !begun.has(request));
    const expected = left.filter(({ stage = 0 }) => end.reason !== 'held' || stage <= judged);
    expect(rowsOfMessages(service.accepted), `cut behind line ${kept}`).toEqual(
      sorted(expected.flatMap(({ first, rows }) => Array.from({ length: rows }, (_, at) => first + at))),
    );
  }
});
