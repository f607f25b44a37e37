import { describe, expect, it } from 'vitest';
import { StopSwitch } from '../../src/run/stop.js';
import { aCsvOf, anSmsStep, aPlan, aPlanOfBatches, aTemplate, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aFakeClock, aFakeLane, aRun, aScriptedService, type RunOptions } from './a-run.js';

type Clock = ReturnType<typeof aFakeClock>;

/** One life of a run on a clock that is shared by all of its lives; says how long ago it last sent, as its lanes were given it. */
async function live(made: MadePlan, clock: Clock, options: Partial<RunOptions> = {}) {
  const lane = aFakeLane(clock, options.onGate ?? (async () => {}));
  const { deps, ...others } = options;
  await aRun({ made, ...others, deps: { clock, createLane: lane.createLane, ...deps } });
  return lane.told.options.map(({ lastSentMsAgo }) => lastSentMsAgo);
}

async function stopAfterAnAnswer(made: MadePlan, clock: Clock): Promise<void> {
  const stop = new StopSwitch();
  const service = aScriptedService(() => {
    stop.request('interrupted', 'SIGTERM');
    return undefined;
  });
  await live(made, clock, { stop, service });
}

describe('the lane of a run that resumes', () => {
  it('knows how large the last request was (the first ones of a run are small), also by its snapshot', async () => {
    const template = aTemplate({ text: 'x'.repeat(400) });
    const step = anSmsStep({ batchSize: 25, template, limits: someLimits({ concurrency: 1 }) });
    const made = await aPlan({ job: { steps: [step] }, files: { 'people.csv': aCsvOf(60) } });
    const clock = aFakeClock();
    await stopAfterAnAnswer(made, clock);
    const lane = aFakeLane(clock, async () => {});
    await aRun({ made, epoch: 2, deps: { clock, createLane: lane.createLane } });
    expect(lane.told.options[0]?.lastSize).toEqual({ messages: 10, segments: 30 });
  });

  it('knows of no earlier request in the first process', async () => {
    expect(await live(await aPlanOfBatches(6), aFakeClock())).toEqual([undefined]);
  });

  it('knows by the lock of the job how long ago a process before it may have sent', async () => {
    const made = await aPlanOfBatches(6);
    const clock = aFakeClock();
    await stopAfterAnAnswer(made, clock);
    expect(await live(made, clock, { epoch: 2, othersSentMsAgo: 200 })).toEqual([200]);
  });

  it('holds a whole second where the files of the lock were deleted, and nothing says how long ago that was', async () => {
    const made = await aPlanOfBatches(6);
    const clock = aFakeClock();
    await stopAfterAnAnswer(made, clock);
    clock.advance(3_600_000);
    expect(await live(made, clock, { epoch: 2 })).toEqual([0]);
  });
});

it('the lane of a second step waits out the second behind the first one by the steady clock, also where the wall clock is set meanwhile', async () => {
  const steps = [1, 2].map(() => anSmsStep({ batchSize: 6 }));
  const made = await aPlan({ job: { steps }, files: { 'people.csv': aCsvOf(6) } });
  const clock = aFakeClock();
  let aheadMs = 0;
  const service = aScriptedService(() => {
    aheadMs = 3_600_000;
    return undefined;
  });
  const set = { ...clock, now: () => clock.now() + aheadMs };
  expect(await live(made, clock, { service, deps: { clock: set } })).toEqual([undefined, 0]);
});
