import { expect, test } from 'vitest';
import { formatTime } from '../../src/domain/stated-time.js';
import { assertDue, stopAfter, waitUntilDue } from '../../src/run/run-times.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aPlanOfBatches, linesOf } from '../plan/a-plan.js';
import { aRun, aScriptedService, journalOf, outputOf, reportOf, writeJournal } from './a-run.js';
import { FakeClock } from './fake-clock.js';

const at = (clock: FakeClock, aheadMs: number) => ({ at: new Date(clock.now() + aheadMs).toISOString() });

test('a job is refused before its time, which is named, and taken from then on', () => {
  const clock = new FakeClock();
  const job = { name: 'sale', notBefore: at(clock, 14 * 3_600_000) };
  expect(() => assertDue(job, clock)).toThrow(
    expect.objectContaining({
      code: 'not-yet',
      message: `Cannot run job sale before ${formatTime(job.notBefore)} (notBefore), which is in 14 h`,
      hint: expect.stringContaining('--wait'),
    }),
  );
  clock.jump({ wallMs: 14 * 3_600_000, steadyMs: 0 });
  expect(() => assertDue(job, clock)).not.toThrow();
  expect(() => assertDue({ name: 'sale' }, clock)).not.toThrow();
});

test('a wait ends at its time by the wall clock, also where that is set meanwhile, and says what it waits for', async () => {
  const clock = new FakeClock();
  const said: string[] = [];
  const log = { info: (text: string) => said.push(text), warn: () => {}, error: () => {} };
  const notBefore = at(clock, 3_600_000);
  let isOver = false;
  const waiting = waitUntilDue({ name: 'sale', notBefore }, { log, clock, stop: new StopSwitch() }).then(() => {
    isOver = true;
  });
  await clock.pass(60_000);
  // The machine's clock is put right by 50 minutes.
  clock.jump({ wallMs: 50 * 60_000, steadyMs: 0 });
  for (let minute = 0; minute < 8; minute++) await clock.pass(60_000);
  expect(isOver).toBe(false);
  clock.jump({ wallMs: 60_000, steadyMs: 60_000 });
  void clock.pass(0);
  await waiting;
  expect(said).toEqual([`waiting until ${formatTime(notBefore)} (notBefore), in 60 min`]);
});

test('a wait that a signal ends was interrupted, unless its time had come', async () => {
  const clock = new FakeClock();
  const stop = new StopSwitch();
  stop.request('interrupted', 'SIGTERM');
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const notBefore = at(clock, 1000);
  await expect(waitUntilDue({ name: 'sale', notBefore }, { log, clock, stop })).rejects.toMatchObject({
    code: 'interrupted',
    message: `Cannot run job sale: SIGTERM came while it waited until ${formatTime(notBefore)} (notBefore)`,
  });
  await waitUntilDue({ name: 'sale', notBefore: at(clock, 0) }, { log, clock, stop });
});

test('a run is stopped as soon as the time after which it may not send has passed, unless it ended before', async () => {
  const clock = new FakeClock();
  const [stop, ended] = [new StopSwitch(), new StopSwitch()];
  const notAfter = at(clock, 90_000);
  stopAfter({ notAfter }, stop, clock);
  stopAfter({ notAfter }, ended, clock)();
  await clock.pass(60_000);
  expect(stop.isRequested).toBe(false);
  void clock.pass(30_000);
  await new Promise((resolve) => stop.nothingNew.addEventListener('abort', resolve));
  expect(stop.reason).toEqual({ reason: 'guard', detail: `notAfter, ${formatTime(notAfter)}, has passed` });
  expect(ended.isRequested).toBe(false);
});

test('at notAfter what waits is given up as too late, and the run is over, with 4', async () => {
  const made = await aPlanOfBatches(6);
  const clock = new FakeClock();
  const service = aScriptedService();
  const notAfter = at(clock, 1000);
  let requests = 0;
  await aRun({
    made,
    service,
    job: { notAfter },
    deps: { clock },
    onGate: async (signal) => {
      requests += 1;
      if (requests !== 2) return;
      void clock.pass(1000);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  expect(service.sent).toHaveLength(1);
  const summary = await reportOf(made);
  const expected = { state: 'finished', exitCode: 4, stop: null, balance: { accepted: 2, unprocessed: 4, inDoubt: 0 } };
  expect(summary).toMatchObject(expected);
  expect(summary.steps[0]?.notSent).toEqual({ 'too-late': 4 });
  expect(outputOf(made, 'unprocessed')).toEqual(
    Array(4).fill(expect.stringContaining(`,too-late,"notAfter, ${formatTime(notAfter)}, had passed"`)),
  );
});

test('a process that was stopped over notAfter sends nothing once it wakes, before any timer is due', async () => {
  const made = await aPlanOfBatches(6);
  const clock = new FakeClock();
  const service = aScriptedService();
  const onGate = async () => clock.jump({ wallMs: 60_000, steadyMs: 0 });
  const { end } = await aRun({ made, service, job: { notAfter: at(clock, 30_000) }, deps: { clock }, onGate });
  expect([end.reason, service.sent]).toEqual(['finished', []]);
  expect((await reportOf(made)).balance).toMatchObject({ accepted: 0, unprocessed: 6, inDoubt: 0 });
});

test('a run that was begun and is resumed after notAfter gives up what is left, whatever its journal ends with', async () => {
  const whole = await aPlanOfBatches(6);
  const clock = new FakeClock();
  await aRun({ made: whole, deps: { clock } });
  const journal = linesOf(journalOf(whole));
  const notAfter = at(clock, 0);
  for (let length = 1; length < journal.length; length += 1) {
    const made = await aPlanOfBatches(6);
    writeJournal(made, journal.slice(0, length));
    const service = aScriptedService();
    const { end } = await aRun({ made, service, epoch: 2, job: { notAfter }, deps: { clock } });
    expect(service.sent).toEqual([]);
    const { balance, exitCode, state } = await reportOf(made);
    expect(balance.accepted + balance.inDoubt + balance.unprocessed).toBe(6);
    const isAnswered = balance.inDoubt > 0 ? 3 : 0;
    expect([end.reason, state, exitCode]).toEqual(['finished', 'finished', balance.unprocessed > 0 ? 4 : isAnswered]);
    // Under a later notAfter nothing of it is sent any more.
    const later = await aRun({ made, service, epoch: 3, job: { notAfter: at(clock, 1000) }, deps: { clock } });
    expect([later.end.reason, service.sent]).toEqual(['finished', []]);
  }
});

test('a plan that was not begun is refused after notAfter', async () => {
  const made = await aPlanOfBatches(6);
  const clock = new FakeClock();
  await expect(aRun({ made, job: { notAfter: at(clock, 0) }, deps: { clock } })).rejects.toMatchObject({
    code: 'guard',
  });
});
