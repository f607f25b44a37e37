import { describe, expect, test } from 'vitest';
import { type CancelAnswer, cancelBatches } from '../../src/settle/cancel-batches.js';
import { aCsvOf, aFolder, anSmsStep, aPlan, linesOf, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, entriesOf, reportOf } from '../run/a-run.js';
import { depsOf, lockedRun, withLock } from './an-export.js';

const files = aFolder({ 'people.csv': aCsvOf(6) });

/** Two batches of three messages, both accepted. */
async function anAcceptedRun(): Promise<MadePlan> {
  const made = await aPlan({
    files,
    job: { steps: [anSmsStep({ batchSize: 3, limits: someLimits({ concurrency: 1 }) })] },
  });
  await aRun({ made, service: aScriptedService() });
  return made;
}

const cancelWith = (made: MadePlan, cancel: () => Promise<CancelAnswer>, signal = new AbortController().signal) =>
  withLock(made, async (lock) =>
    cancelBatches(await lockedRun(made, lock), { person: 'ann', step: 1, cancel, signal }, depsOf(made)),
  );
const codesOf = ({ disk, directory }: MadePlan, output: string) =>
  linesOf(disk.readText(`${directory}/1-sms.${output}.csv`))
    .slice(1)
    .map((line) => /,(cancelled|cancelling|partly-cancelled|QUEUED),/.exec(line)?.[1]);

describe('a cancel', () => {
  test('that takes back a part of a batch leaves the whole batch in doubt: the service does not say which', async () => {
    const made = await anAcceptedRun();
    const counts = await cancelWith(made, async () => ({ kind: 'cancelled', count: 2 }));
    expect(counts).toMatchObject({ batches: 2, cancelled: 0 });
    expect(await reportOf(made)).toMatchObject({ exitCode: 3, balance: { accepted: 0, inDoubt: 6, unprocessed: 0 } });
    expect(codesOf(made, 'in-doubt')).toEqual(Array(6).fill('partly-cancelled'));
  });

  test('of what was sent already changes nothing: ids and status stay', async () => {
    const made = await anAcceptedRun();
    await reportOf(made);
    const before = made.disk.readText(`${made.directory}/1-sms.results.csv`);
    const counts = await cancelWith(made, async () => ({ kind: 'cancelled', count: 0 }));
    expect(counts).toMatchObject({ batches: 2, cancelled: 0 });
    expect(await reportOf(made)).toMatchObject({ exitCode: 0, balance: { accepted: 6 } });
    expect(made.disk.readText(`${made.directory}/1-sms.results.csv`)).toBe(before);
  });

  test('whose process dies before the answer leaves its batch in doubt, durably, before the call leaves', async () => {
    const made = await anAcceptedRun();
    const died = new Error('the process died');
    const kinds: unknown[] = [];
    const cancel = async () => {
      kinds.push(...entriesOf(made.disk, made.directory).slice(-1));
      throw died;
    };
    await expect(cancelWith(made, cancel)).rejects.toBe(died);
    expect(kinds).toMatchObject([
      {
        type: 'settle',
        from: 'accepted',
        by: 'cancel ann',
        rows: [0, 1, 2].map((row) => [row, 0, expect.stringMatching(/^u-/)]),
      },
    ]);
    expect(await reportOf(made)).toMatchObject({ state: 'finished', balance: { accepted: 3, inDoubt: 3 } });
    expect(codesOf(made, 'in-doubt')).toEqual(Array(3).fill('cancelling'));
    // What is in doubt is not cancelled once more.
    expect(await cancelWith(made, async () => ({ kind: 'cancelled', count: 3 }))).toMatchObject({
      batches: 1,
      cancelled: 3,
    });
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 0, inDoubt: 3, unprocessed: 3 } });
  });

  test('that is interrupted ends between two batches', async () => {
    const made = await anAcceptedRun();
    const interrupted = new AbortController();
    const cancel = async (): Promise<CancelAnswer> => {
      interrupted.abort();
      return { kind: 'cancelled', count: 3 };
    };
    expect(await cancelWith(made, cancel, interrupted.signal)).toMatchObject({ batches: 1, cancelled: 3 });
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 3, unprocessed: 3 } });
  });
});
