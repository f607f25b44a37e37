import { expect, test } from 'vitest';
import { formatTime } from '../../src/domain/stated-time.js';
import { assertDue, stopAfter, waitUntilDue } from '../../src/run/run-times.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aCsvOf, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf } from './a-run.js';
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
  const waiting = waitUntilDue({ notBefore }, { log, clock, signal: new AbortController().signal }).then(() => {
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

test('a wait ends with its signal', async () => {
  const clock = new FakeClock();
  const signal = AbortSignal.abort();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  await waitUntilDue({ notBefore: at(clock, 1000) }, { log, clock, signal });
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

test('at notAfter what waits stays where it is, and the run ends with 4', async () => {
  const limits = someLimits({ concurrency: 1 });
  const made = await aPlan({
    files: { 'people.csv': aCsvOf(6) },
    job: { steps: [anSmsStep({ batchSize: 2, limits })] },
  });
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
  expect(await reportOf(made)).toMatchObject({
    state: 'stopped',
    exitCode: 4,
    stop: { reason: 'guard', detail: `notAfter, ${formatTime(notAfter)}, has passed` },
    balance: { accepted: 2, unprocessed: 4, inDoubt: 0 },
  });
});
