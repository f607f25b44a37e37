import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StopSwitch } from '../../src/run/stop.js';
import { aPlanOfBatches } from '../plan/a-plan.js';
import { aRun, aScriptedService, entriesOf, failure, reportOf, untilAborted } from './a-run.js';

describe('a run that is asked to stop', () => {
  it('while a request waits at the gate sends it not: the row stays unprocessed, and a later run sends it', async () => {
    const made = await aPlanOfBatches(6);
    const stop = new StopSwitch();
    const service = aScriptedService();
    const { end } = await aRun({
      made,
      service,
      stop,
      onGate: async (signal) => {
        queueMicrotask(() => stop.request('interrupted', 'SIGTERM'));
        await untilAborted(signal);
      },
    });
    expect(end).toEqual({ reason: 'interrupted', detail: 'SIGTERM' });
    expect(service.sent).toEqual([]);
    const summary = await reportOf(made);
    const expected = { state: 'stopped', exitCode: 75, stop: { reason: 'interrupted', detail: 'SIGTERM' } };
    expect(summary).toMatchObject(expected);
    expect(summary.balance).toMatchObject({ unprocessed: 6, inDoubt: 0 });

    await aRun({ made, service, epoch: 2 });
    expect(service.accepted).toHaveLength(6);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 6, unprocessed: 0 });
  });

  it('as the gate opens sends it not either', async () => {
    const made = await aPlanOfBatches(6);
    const stop = new StopSwitch();
    const service = aScriptedService();
    await aRun({ made, service, stop, onGate: async () => stop.request('interrupted', 'SIGTERM') });
    expect(service.sent).toEqual([]);
    expect((await reportOf(made)).balance).toMatchObject({ unprocessed: 6 });
  });

  it('awaits what is in flight, and sends nothing new', async () => {
    const made = await aPlanOfBatches(6);
    const stop = new StopSwitch();
    const service = aScriptedService((_sent, count) => {
      if (count === 1) stop.request('interrupted', 'SIGTERM');
      return undefined;
    });
    await aRun({ made, service, stop });
    const { balance } = await reportOf(made);
    expect(balance.accepted).toBe(service.accepted.length);
    expect(balance.accepted).toBeLessThan(6);
    expect(balance).toMatchObject({ inDoubt: 0, unprocessed: 6 - balance.accepted });
  });

  it('and then to abandon what is in flight puts that in doubt', async () => {
    const made = await aPlanOfBatches(6);
    const stop = new StopSwitch();
    const sent: string[] = [];
    const transport = {
      send: async (_call: unknown, signal: AbortSignal | undefined) => {
        sent.push('a batch');
        stop.request('interrupted', 'SIGTERM');
        queueMicrotask(() => stop.abandon());
        await untilAborted(signal!);
        return failure(true, 'AbortError');
      },
      close: async () => {},
    };
    await aRun({ made, service: { transport }, stop });
    const { balance } = await reportOf(made);
    expect(balance).toMatchObject({ inDoubt: sent.length * 2, unprocessed: 6 - balance.inDoubt });
  });

  it('before it began sends nothing, and says why in its journal', async () => {
    const made = await aPlanOfBatches(6);
    const stop = new StopSwitch();
    stop.request('interrupted', 'SIGINT');
    stop.request('guard', 'too late to be the reason');
    const service = aScriptedService();
    await aRun({ made, service, stop });
    expect(service.sent).toEqual([]);
    expect(entriesOf(made.disk, made.directory).map(({ type }) => type)).toEqual(['open', 'close']);
    expect(entriesOf(made.disk, made.directory).at(-1)).toMatchObject({ reason: 'interrupted', detail: 'SIGINT' });
  });
});

it('a run that holds what it sends for as long as others say so asks for that before each intent', async () => {
  const made = await aPlanOfBatches(6);
  const service = aScriptedService();
  let asked = 0;
  const refresh = async () => {
    asked += 1;
  };
  const assertFresh = () => {
    if (asked === 0) throw new Error('nobody was asked');
  };
  await aRun({ made, service, lock: { refresh, assertFresh } });
  expect(asked).toBe(service.sent.length);
  expect(asked).toBeGreaterThan(1);
});

it('a stop switch takes as many listeners as there are requests in flight, and no warning is said of them', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { nothingNew, nothingMore } = new StopSwitch();
  for (let request = 0; request < 256; request += 1) {
    nothingNew.addEventListener('abort', () => {});
    nothingMore.addEventListener('abort', () => {});
  }
  await setImmediate();
  expect(warnings).toEqual([]);
});
