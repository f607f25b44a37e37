import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/hours/window.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aFolder, anInput, anSmsStep, aPlan, linesOf, refusalOf, someLimits, statesOf } from '../plan/a-plan.js';
import {
  aFakeClock,
  aRun,
  aScriptedService,
  duplicatesAmong,
  type RunOptions,
  reportOf,
  rowsOfMessages,
} from './a-run.js';

function aWindow(changes: Partial<Window> = {}): Window {
  return {
    days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
    from: '09:00',
    to: '20:00',
    timeZone: 'recipient',
    unknown: 'reject',
    outside: 'stop',
    ...changes,
  };
}

/** Three of Singapore, Germany and India, one after the other. */
const NUMBERS = [0, 1, 2].flatMap((n) => [`+659123456${n}`, `+4915112345${n}67`, `+91987654321${n}`]);
const files = aFolder({ 'people.csv': `mobile\n${NUMBERS.join('\n')}\n` });

const aClockAt = (at: string) => aFakeClock(Date.parse(at));

async function aPlanWith(window: Partial<Window>, at: string, changes = {}) {
  const limits = someLimits({ concurrency: 1 });
  const step = anSmsStep({ window: aWindow(window), batchSize: 1000, limits, ...changes });
  return aPlan({ files, job: { steps: [step] }, nowMs: Date.parse(at) });
}

/** The service, and when it got each number. */
function aTimedService(clock: { now(): number }) {
  const sent: { to: string; at: string }[] = [];
  const service = aScriptedService((one) => {
    for (const { destination } of one.body.messages ?? [])
      sent.push({ to: destination, at: new Date(clock.now()).toISOString() });
    return undefined;
  });
  return { ...service, got: sent };
}

/** Applies a plan at a time; gives what the service got, and when. */
async function runAt(made: RunOptions['made'], at: string, options: Partial<RunOptions> = {}, clock = aClockAt(at)) {
  const service = aTimedService(clock);
  const { end } = await aRun({ made, service, deps: { clock }, ...options });
  return { end, ...service };
}

const of = (prefix: string) => NUMBERS.filter((number) => number.startsWith(prefix)).toSorted();
const numbersOf = (got: readonly { to: string }[]) => got.map(({ to }) => to).toSorted();

describe('a run with a window', () => {
  it('sends what is open, and ends with the next opening of what is not', async () => {
    // Tuesday: 16:00 in Singapore, 09:00 in Berlin, 13:30 in Delhi.
    const made = await aPlanWith({}, '2026-12-01T07:30:00Z');
    const { end, got } = await runAt(made, '2026-12-01T07:30:00Z');
    expect(numbersOf(got)).toEqual([...of('+65'), ...of('+91')].toSorted());
    expect(end).toEqual({
      reason: 'closed',
      detail:
        'step 1: the window is closed for all that is left; it opens next on 1 December 2026 at 08:00 UTC (1 December 2026 at 09:00 Europe/Berlin), for DE',
    });
    expect((await reportOf(made)).exitCode).toBe(75);

    const again = await runAt(made, '2026-12-01T08:00:00Z', { epoch: 2 });
    expect([again.end.reason, numbersOf(again.got)]).toEqual(['finished', of('+49')]);
    expect(await reportOf(made)).toMatchObject({ exitCode: 0, balance: { read: 9, accepted: 9 } });
  });

  it('waits for each opening where it is to wait, and sends each row once', async () => {
    // Saturday evening: on Monday Singapore opens first, then India, then Germany.
    const made = await aPlanWith({ outside: 'wait' }, '2026-12-05T20:00:00Z');
    const { end, got, accepted } = await runAt(made, '2026-12-05T20:00:00Z');
    expect(end.reason).toBe('finished');
    const first = (prefix: string) => got.filter(({ to }) => to.startsWith(prefix)).map(({ at }) => at.slice(0, 16));
    expect(first('+65')).toEqual(Array(3).fill('2026-12-07T01:00'));
    expect(first('+91')).toEqual(Array(3).fill('2026-12-07T03:30'));
    expect(first('+49')).toEqual(Array(3).fill('2026-12-07T08:00'));
    expect(duplicatesAmong(accepted)).toEqual([]);
  });

  it('can be stopped while it waits', async () => {
    const made = await aPlanWith({ outside: 'wait' }, '2026-12-05T20:00:00Z');
    const clock = aClockAt('2026-12-05T20:00:00Z');
    const stop = new StopSwitch();
    let sleeps = 0;
    const sleep = async (delayMs: number) => {
      clock.advance(delayMs);
      sleeps += 1;
      if (sleeps === 10) stop.request('interrupted', 'SIGTERM');
    };
    const { end, got } = await runAt(made, '', { stop }, { ...clock, sleep });
    expect([end.reason, sleeps, got]).toEqual(['interrupted', 10, []]);
  });

  it('leaves room for the answer: nothing leaves in the last minute', async () => {
    const at = '2026-12-01T11:59:30Z';
    const made = await aPlanWith({ timeZone: 'Asia/Singapore' }, at);
    expect(await runAt(made, at)).toMatchObject({ end: { reason: 'closed' }, got: [] });
  });

  it('sends nothing at the gate once the hour has passed there, as after a SIGSTOP, and resumes when it is open', async () => {
    const at = '2026-12-01T11:00:00Z';
    const made = await aPlanWith({ timeZone: 'Asia/Singapore' }, at);
    const clock = aClockAt(at);
    const onGate = async () => clock.advance(2 * 3_600_000);
    expect(await runAt(made, at, { onGate }, clock)).toMatchObject({ end: { reason: 'closed' }, got: [] });
    expect((await reportOf(made)).balance).toMatchObject({ inDoubt: 0, unprocessed: 9 });
    const { got } = await runAt(made, '2026-12-02T01:00:00Z', { epoch: 2 });
    expect(numbersOf(got)).toEqual([...NUMBERS].toSorted());
  });

  it('sends nothing where the clock is set back to before the opening', async () => {
    const at = '2026-12-01T01:00:00Z';
    const made = await aPlanWith({ timeZone: 'Asia/Singapore' }, at, { batchSize: 3 });
    const clock = aClockAt(at);
    let gates = 0;
    const onGate = async () => {
      gates += 1;
      if (gates === 2) clock.advance(-5 * 60_000);
    };
    const { end, got } = await runAt(made, at, { onGate }, clock);
    expect([end.reason, got.length]).toEqual(['closed', 3]);
  });
});

describe('a window and notAfter', () => {
  /** No time passes. */
  const stand = (made: RunOptions['made'], at: string, options: Partial<RunOptions>) =>
    runAt(made, at, options, { ...aClockAt(at), sleep: () => new Promise<void>(() => {}) });

  it('gives up at once what opens only after it, and stops for what opens before', async () => {
    const made = await aPlanWith({}, '2026-12-01T07:30:00Z');
    // Singapore closes; Berlin opens, and closes later.
    const job = { notAfter: { at: '2026-12-01T20:00:00Z' } };
    const { end, got } = await stand(made, '2026-12-01T12:30:00Z', { job });
    expect([end.reason, numbersOf(got)]).toEqual(['finished', [...of('+49'), ...of('+91')].toSorted()]);
    const summary = await reportOf(made);
    expect(summary).toMatchObject({ exitCode: 4, balance: { read: 9, accepted: 6, unprocessed: 3 } });
    expect(summary.steps[0]).toMatchObject({
      notSent: { 'too-late': 3 },
      reasons: [
        { code: 'too-late', rows: 3, said: expect.stringMatching(/notAfter, .*, comes before the window opens/) },
      ],
    });
  });

  it('stops with 75 as long as something opens before it', async () => {
    const made = await aPlanWith({}, '2026-12-01T07:30:00Z');
    const job = { notAfter: { at: '2026-12-01T08:30:00Z' } };
    expect((await stand(made, '2026-12-01T07:30:00Z', { job })).end.reason).toBe('closed');
    expect((await stand(made, '2026-12-01T08:30:00Z', { job, epoch: 2 })).got).toEqual([]);
    expect(await reportOf(made)).toMatchObject({ exitCode: 4, balance: { accepted: 6, unprocessed: 3, inDoubt: 0 } });
  });

  it('is refused by the plan where a country opens only after it', async () => {
    const step = anSmsStep({ window: aWindow() });
    const job = { steps: [step], notAfter: { at: '2026-12-01T20:00:00Z' } };
    const { problems } = await refusalOf({ files, job, nowMs: Date.parse('2026-12-01T12:30:00Z') });
    expect(problems).toEqual([
      'step 1: SG opens next on 2 December 2026 at 01:00 UTC, expected before notAfter, 1 December 2026 at 20:00 UTC (3 rows)',
    ]);
  });
});

describe('a plan with a window', () => {
  it('puts rows of different hours into requests of their own, and names their hours', async () => {
    const made = await aPlanWith({}, '2026-12-01T07:30:00Z');
    const requests = made.requests.map(({ hours, rows, json }) => ({
      hours,
      rows,
      to: json.messages.map((message) => (message as unknown as { destination: string }).destination.slice(0, 3)),
    }));
    expect(requests).toEqual([
      { hours: 'SG', rows: 3, to: Array(3).fill('+65') },
      { hours: 'DE', rows: 3, to: Array(3).fill('+49') },
      { hours: 'IN', rows: 3, to: Array(3).fill('+91') },
    ]);
    expect(made.step.hours).toEqual({ groups: { SG: 3, DE: 3, IN: 3 }, timeZoneData: process.versions.tz });
    const ids = made.requests.flatMap(({ json }) => json.messages.map(({ clientMessageId }) => clientMessageId));
    expect(rowsOfMessages(ids)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(made.rows.map(({ row }) => row).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each(['reject', 'hold'] as const)('does not plan rows without a known zone: %s', async (unknown) => {
    const csv = 'mobile,zone\n+6591234560,Asia/Singapore\n+6591234561,\n+6591234562,Mars\n+6591234561,asia/singapore\n';
    const step = anSmsStep({ window: aWindow({ timeZone: { column: 'zone' }, unknown }) });
    const made = await aPlan({ files: { 'people.csv': csv }, job: { steps: [step] } });
    // A row that is not planned is not the one that others repeat.
    expect(statesOf(made.rows).toSorted()).toEqual(['no-time-zone', 'no-time-zone', 'planned', 'planned']);
    expect(made.step[unknown === 'hold' ? 'skips' : 'rejections']).toEqual({ 'no-time-zone': 2 });
  });

  it('a row without a known zone says its other faults first, and a list of numbers counts before', async () => {
    const files = { 'people.csv': 'mobile,zone\n+6591234560,Mars\nnobody,Mars\n', 'out.csv': 'mobile\n+6591234560\n' };
    const window = aWindow({ timeZone: { column: 'zone' } });
    const step = anSmsStep({ window, suppress: [anInput({ files: ['out.csv'] })] });
    const made = await aPlan({ files, job: { steps: [step] } });
    expect(statesOf(made.rows)).toEqual(['suppressed', 'not-a-number']);
  });

  it.each([
    ['US', '+12125551234', '12:00'],
    // Between its first and its last clock lie two hours.
    ['ID', '+6281234567890', '11:01'],
  ])(
    'is refused where a country leaves no hour, or less of one than an answer may take, by its name: %s',
    async (country, number, to) => {
      const files = { 'people.csv': `mobile\n${number}\n+6591234567\n` };
      const step = anSmsStep({ window: aWindow({ from: '09:00', to }) });
      const { problems } = await refusalOf({ files, job: { steps: [step] } });
      expect(problems).toEqual([
        `step 1: ${country} leaves no hour: 09:00 to ${to} is never in all of its time zones for the 60 s that an answer may take (1 row)`,
      ]);
    },
  );

  it('keeps rows of a file before those of the next', async () => {
    const two = { 'a.csv': 'mobile\n+6591234560\n+4915112345067\n', 'b.csv': 'mobile\n+6591234561\n+4915112345167\n' };
    const step = anSmsStep({ window: aWindow(), input: anInput({ files: ['a.csv', 'b.csv'] }) });
    const made = await aPlan({ files: two, job: { steps: [step] } });
    expect(made.rows.map(({ file }) => file)).toEqual([0, 0, 1, 1]);
    expect(linesOf(made.disk.readText(`${made.directory}/1-sms.requests.ndjson`)).length).toBe(4);
  });
});
