import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../src/journal/entry-format.js';
import { StopSwitch } from '../../../src/run/stop.js';
import { aFolder, aPlan, type MadePlan } from '../../plan/a-plan.js';
import { ownError } from '../../service/an-answer.js';
import { aGateway, CHANNELS, CONVERSATIONS, MAKING_STEP, pathsOf, WEBHOOKS } from '../a-gateway.js';
import { LOST, lostAtGate } from '../a-lost-lock.js';
import { aRun, cutJournal, entriesOf, failure, response, slowFiles } from '../a-run.js';

const SAID = 'may have succeeded, but its id is unknown';

const files = aFolder({ 'people.csv': 'name\nAnn\n' });
const aTestPlan = () => aPlan({ files, job: { steps: [MAKING_STEP] } });

/** Leaves of the journal what stood in it when the process died: all before the first entry that fits, and that one. */
function cutBehind(made: MadePlan, fits: (entry: JournalEntry) => boolean): void {
  const last = entriesOf(made.disk, made.directory).findIndex(fits);
  expect(last).not.toBe(-1);
  cutJournal(made, last + 1);
}

const isPreparing = (what: string) => (entry: JournalEntry) =>
  entry.type === 'preparing' && entry.what.startsWith(`create a ${what}`);

describe('what a step needs', () => {
  it('is noted durably before the call that makes it leaves, and its id behind it', async () => {
    const made = await aTestPlan();
    const before: unknown[] = [];
    let durable: readonly JournalEntry[] = [];
    const service = aGateway(() => {
      before.push(durable.at(-1));
      return undefined;
    });
    const files = slowFiles(made, () => {
      durable = entriesOf(made.disk, made.directory);
    });
    expect((await aRun({ made, service, deps: { files } })).end.reason).toBe('finished');
    expect(pathsOf(service)).toEqual([WEBHOOKS, CHANNELS, CONVERSATIONS]);
    expect(before).toMatchObject([
      { type: 'preparing', step: 1, what: 'create a webhook "Events"' },
      { type: 'preparing', step: 1, what: 'create a channel "Bot"' },
      { type: 'intent', step: 1 },
    ]);
    const ids = entriesOf(made.disk, made.directory).flatMap((entry) => (entry.type === 'prepared' ? [entry.ids] : []));
    expect(ids).toEqual([['1'], ['1', '2']]);
  });

  it.each([
    ['webhook', [WEBHOOKS, CHANNELS, CONVERSATIONS]],
    ['channel', [CHANNELS, CONVERSATIONS]],
  ])(
    'may exist when the process died while it made the %s: the next run says so, the one after makes it anew',
    async (what, paths) => {
      const made = await aTestPlan();
      await aRun({ made, service: aGateway() });
      cutBehind(made, isPreparing(what));
      const service = aGateway();

      const { end } = await aRun({ made, service, epoch: 2 });

      expect(end).toMatchObject({ reason: 'refused', detail: expect.stringContaining(SAID) });
      expect(end.detail).toContain(`create a ${what}`);
      expect(service.sent).toEqual([]);
      expect((await aRun({ made, service, epoch: 3 })).end.reason).toBe('finished');
      expect(pathsOf(service)).toEqual(paths);
    },
  );

  it('is said again when the process died before its run was closed', async () => {
    const made = await aTestPlan();
    const service = aGateway();
    await aRun({ made, service });
    cutBehind(made, isPreparing('webhook'));
    await aRun({ made, service, epoch: 2 });
    cutBehind(made, ({ type }) => type === 'unprepared');

    const { end } = await aRun({ made, service, epoch: 3 });

    expect(end).toMatchObject({ reason: 'refused', detail: expect.stringContaining(SAID) });
    expect(service.sent).toHaveLength(3);
  });

  it.each([
    ['no answer', failure(true)],
    ['HTTP 502', response(502, {})],
    ['an answer without its id', response(200, {})],
  ])('may exist after %s: the run stops and says so, and the next makes it anew', async (_, answer) => {
    const made = await aTestPlan();
    const service = aGateway((_sent, count) => (count === 2 ? answer : undefined));

    const { end } = await aRun({ made, service });

    expect(end).toMatchObject({ reason: 'refused', detail: expect.stringContaining(SAID) });
    expect(end.detail).toContain('create a channel "Bot"');
    expect(pathsOf(service)).toEqual([WEBHOOKS, CHANNELS]);
    expect((await aRun({ made, service, epoch: 2 })).end.reason).toBe('finished');
    expect(pathsOf(service).slice(2)).toEqual([CHANNELS, CONVERSATIONS]);
  });

  it('and may exist is said by the next run where this one was asked to stop meanwhile', async () => {
    const made = await aTestPlan();
    const stop = new StopSwitch();
    const service = aGateway((_sent, count) => {
      if (count > 1) return undefined;
      stop.request('interrupted', 'SIGTERM');
      return failure(true);
    });

    expect((await aRun({ made, service, stop })).end).toEqual({ reason: 'interrupted', detail: 'SIGTERM' });
    const { end } = await aRun({ made, service, epoch: 2 });

    expect(end).toMatchObject({ reason: 'refused', detail: expect.stringContaining(SAID) });
    expect(service.sent).toHaveLength(1);
    expect((await aRun({ made, service, epoch: 3 })).end.reason).toBe('finished');
  });

  it('is made by the next run silently when the service refused it', async () => {
    const made = await aTestPlan();
    const service = aGateway((_sent, count) =>
      count === 1 ? response(400, ownError('gateway', 1000, 'No')) : undefined,
    );

    const { end } = await aRun({ made, service });

    expect(end).toEqual({ reason: 'refused', detail: 'step 1 (conversations): Cannot create a webhook: No' });
    cutBehind(made, ({ type }) => type === 'unprepared');
    expect((await aRun({ made, service, epoch: 2 })).end.reason).toBe('finished');
    expect(pathsOf(service).slice(1)).toEqual([WEBHOOKS, CHANNELS, CONVERSATIONS]);
  });

  it('is made by the next run silently when the run was stopped before its call left', async () => {
    const made = await aTestPlan();
    const stop = new StopSwitch();
    const service = aGateway();
    const onGate = async () => stop.request('interrupted', 'SIGTERM');

    expect((await aRun({ made, service, stop, onGate })).end.reason).toBe('interrupted');

    expect(service.sent).toEqual([]);
    expect((await aRun({ made, service, epoch: 2 })).end.reason).toBe('finished');
  });

  it.each([
    ['webhook', 0, [WEBHOOKS, CHANNELS, CONVERSATIONS]],
    ['channel', 1, [CHANNELS, CONVERSATIONS]],
  ])(
    'is made by the next run silently when the lock was lost before the call to make the %s left',
    async (_, passes, paths) => {
      const made = await aTestPlan();
      const service = aGateway();

      await expect(aRun({ made, service, ...lostAtGate(passes) })).rejects.toBe(LOST);

      expect(service.sent).toHaveLength(passes);
      expect((await aRun({ made, service, epoch: 2 })).end.reason).toBe('finished');
      expect(pathsOf(service).slice(passes)).toEqual(paths);
    },
  );

  it('is tried again at once where nothing was reached', async () => {
    const made = await aTestPlan();
    const service = aGateway((_sent, count) => (count <= 2 ? failure(false, 'ECONNREFUSED') : undefined));
    expect((await aRun({ made, service })).end.reason).toBe('finished');
    expect(pathsOf(service)).toEqual([WEBHOOKS, WEBHOOKS, WEBHOOKS, CHANNELS, CONVERSATIONS]);
  });
});
