import { describe, expect, it } from 'vitest';
import { StopSwitch } from '../../src/run/stop.js';
import type { Transport } from '../../src/service/transport.js';
import { aCsvOf, anSmsStep, aPlan, aPlanOfBatches, aTemplate, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aFakeClock, aFakeLane, aRun, aScriptedService, cutJournal, entriesOf, type RunOptions } from './a-run.js';
import { aCheckPlan, aSession } from './a-verification-run.js';

type Clock = ReturnType<typeof aFakeClock>;

/** One life of a run on a clock that is shared by all of its lives; says how long ago it last sent, as its lanes were given it. */
async function live(made: MadePlan, clock: Clock, options: Partial<RunOptions> = {}) {
  const lane = aFakeLane(clock, options.onGate ?? (async () => {}));
  const { deps, ...others } = options;
  await aRun({ made, ...others, deps: { clock, createLane: lane.createLane, ...deps } });
  return lane.told.options.map(({ lastSentMsAgo }) => lastSentMsAgo);
}

/** Stops after its first answer, which came `answerMs` after the gate, for which it had waited `gateMs`. */
async function liveAndStop(made: MadePlan, clock: Clock, { gateMs = 0, answerMs = 0 }): Promise<void> {
  const stop = new StopSwitch();
  const service = aScriptedService(() => {
    clock.advance(answerMs);
    stop.request('interrupted', 'SIGTERM');
    return undefined;
  });
  await live(made, clock, { stop, service, onGate: async () => clock.advance(gateMs) });
}

/** Leaves of the journal what stood in it when its process died in the midst of a request. */
function dieInFlight(made: MadePlan): void {
  cutJournal(made, entriesOf(made.disk, made.directory).findIndex(({ type }) => type === 'intent') + 1);
}

describe('the lane of a run that resumes', () => {
  it('knows how large the last request was (the first ones of a run are small), also by its snapshot', async () => {
    for (const snapshotEveryBytes of [1, 1e6]) {
      const template = aTemplate({ text: 'x'.repeat(400) });
      const step = anSmsStep({ batchSize: 25, template, limits: someLimits({ concurrency: 1 }) });
      const made = await aPlan({ job: { steps: [step] }, files: { 'people.csv': aCsvOf(60) } });
      const clock = aFakeClock();
      await liveAndStop(made, clock, {});
      const lane = aFakeLane(clock, async () => {});
      await aRun({ made, epoch: 2, deps: { clock, createLane: lane.createLane, snapshotEveryBytes } });
      expect(lane.told.options[0]?.lastSize).toEqual({ messages: 10, segments: 30 });
    }
  });

  it('knows of no earlier request in the first process', async () => {
    expect(await live(await aPlanOfBatches(6), aFakeClock())).toEqual([undefined]);
  });

  it('knows of the outcome behind the last request, which may have waited at the gate for minutes after its intent', async () => {
    const made = await aPlanOfBatches(6);
    const clock = aFakeClock();
    await liveAndStop(made, clock, { gateMs: 120_000, answerMs: 30 });
    clock.advance(200);
    expect(await live(made, clock, { epoch: 2 })).toEqual([200]);
  });

  it('holds a whole second where a request had no outcome: it may have left in the last moment of its process', async () => {
    const made = await aPlanOfBatches(6);
    const clock = aFakeClock();
    await live(made, clock);
    dieInFlight(made);
    clock.advance(3_600_000);
    expect(await live(made, clock, { epoch: 2 })).toEqual([0]);
  });

  it('holds it as well where that request is asked for, and so has no outcome yet', async () => {
    const made = await aCheckPlan(['s1', 's2']);
    const clock = aFakeClock();
    const transport: Transport = { send: async (call) => aSession(call, 'VERIFIED', 0), close: async () => {} };
    const service = { transport };
    await live(made, clock, { service });
    dieInFlight(made);
    clock.advance(3_600_000);
    expect(await live(made, clock, { service, epoch: 2 })).toEqual([0]);
  });

  it('holds it behind a process on another host, whose clock is not ours', async () => {
    const made = await aPlanOfBatches(6);
    const clock = aFakeClock();
    await liveAndStop(made, clock, {});
    clock.advance(3_600_000);
    const owner = { host: 'there', pid: 1, instance: 'j' };
    expect(await live(made, clock, { epoch: 2, deps: { owner } })).toEqual([0]);
  });
});

describe('the lane of a second step', () => {
  it('waits out the second behind the first one by the steady clock, also where the wall clock is set meanwhile', async () => {
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
});
