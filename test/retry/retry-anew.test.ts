import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settleByDecision } from '../../src/settle/settle-rows.js';
import { aCsvOf, aFolder, aNumber, anInput, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import { refuseSome, sentTo } from '../run/a-mixed-run.js';
import { aRun, aScriptedService, failure, reportOf } from '../run/a-run.js';
import { depsOf, lockedRun, withLock } from '../settle/an-export.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { applyRetry, planIn, plansOf, retriedPlan, retry, waitingPlans } from './a-retry.js';

const numbers = (...rows: number[]) => rows.map(aNumber);

/** Nine people in three requests: 1 is refused as `REJECTED`, 6 to 8 with code 1100; there is a list of who opted out. */
async function aRunWithList() {
  const folder = aFolder({ 'people.csv': aCsvOf(9), 'opt-outs.csv': `mobile\n${aNumber(50)}\n` });
  const suppress = [anInput({ files: ['opt-outs.csv'] })];
  const step = anSmsStep({ batchSize: 3, limits: someLimits({ concurrency: 1 }), suppress });
  const made = await aPlan({ files: folder, job: { steps: [step] } });
  await aRun({ made, service: aScriptedService(refuseSome) });
  const optOut = (...rows: number[]) => {
    writeFileSync(join(folder, 'opt-outs.csv'), ['mobile', ...numbers(50, ...rows), ''].join('\n'));
  };
  return { made, optOut };
}

describe('a plan that was given rows and never begun', () => {
  it('is made anew by the same command: of the same rows, without who opted out since', async () => {
    const { made, optOut } = await aRunWithList();
    const child = await retriedPlan(made, 'rejected');
    optOut(6);

    const { anew, left } = await retry(made, 'rejected');

    expect([anew.map(({ plan }) => plan.id), left.retriedBefore]).toEqual([[child.plan.id], 4]);
    const again = await planIn(made, child.directory);
    expect(again.step.counts).toMatchObject({ read: 4, planned: 3, skipped: 1 });
    const service = aScriptedService();
    await applyRetry(again, { service });
    expect(sentTo(service)).toEqual(numbers(1, 7, 8));
    expect(await reportOf(made)).toMatchObject({ balance: { rejected: 0, skipped: 4 } });
  });

  it('is made anew by the choice that made it alone, each plan that it made', async () => {
    const { made } = await aRunWithList();
    const [one, other] = [
      await retriedPlan(made, 'rejected', ['1100']),
      await retriedPlan(made, 'rejected', ['REJECTED']),
    ];
    expect(await retry(made, 'rejected')).toMatchObject({ made: undefined, anew: [] });
    expect((await retry(made, 'not-sent')).anew).toEqual([]);
    expect((await retry(made, 'rejected', ['1100'])).anew).toEqual([{ plan: one.plan, directory: one.directory }]);
    expect((await retry(made, 'rejected', ['REJECTED'])).anew).toMatchObject([{ plan: { id: other.plan.id } }]);
  });

  it('stays as it is once it was begun, and when its directory is gone: it may have been sent', async () => {
    const { made } = await aRunWithList();
    const begun = await retriedPlan(made, 'rejected', ['1100']);
    const gone = await retriedPlan(made, 'rejected', ['REJECTED']);
    await applyRetry(begun);
    await made.disk.files.remove(gone.directory);
    expect((await retry(made, 'rejected', ['1100'])).anew).toEqual([]);
    expect((await retry(made, 'rejected', ['REJECTED'])).anew).toEqual([]);
    expect(plansOf(made).sort()).toEqual([begun.directory, made.directory].sort());
  });

  it('waits until it is begun, with as many rows as it was given', async () => {
    const { made } = await aRunWithList();
    expect(await waitingPlans(made)).toEqual([]);
    const child = await retriedPlan(made, 'rejected');
    expect(await waitingPlans(made)).toEqual([{ directory: child.directory, plan: child.plan, rows: 4 }]);
    await applyRetry(child);
    expect(await waitingPlans(made)).toEqual([]);
  });

  it('is made good by the same command where the one that made it anew was killed, at any moment', async () => {
    const { made, optOut } = await aRunWithList();
    const child = await retriedPlan(made, 'rejected');
    optOut(6);
    const moments = new Set<string>();
    made.disk.onOperation = () => moments.add(JSON.stringify(made.disk.snapshot('/out')));
    await retry(made, 'rejected');
    made.disk.onOperation = () => {};
    expect(moments.size).toBeGreaterThan(10);
    for (const moment of moments) {
      const content: Record<string, string> = JSON.parse(moment);
      const disk = aMemoryDisk(
        Object.fromEntries(Object.entries(content).map(([path, text]) => [`/out/${path}`, text])),
      );
      const cut = { ...made, disk };
      // A snapshot has no empty directories.
      await disk.files.makeDirectory(child.directory);
      expect((await retry(cut, 'rejected')).anew.map(({ plan }) => plan.id)).toEqual([child.plan.id]);
      const service = aScriptedService();
      await applyRetry(await planIn(cut, child.directory), { service });
      expect(sentTo(service)).toEqual(numbers(1, 7, 8));
    }
  });
});

it('rows that are settled as not sent are left out of a retry where a receipt tells of them, and stand in the account of their run', async () => {
  const files = aFolder({ 'people.csv': aCsvOf(3) });
  const made = await aPlan({ files, job: { steps: [anSmsStep()] } });
  await aRun({ made, service: aScriptedService(() => failure(true)) });
  const word = { assume: 'not-sent', confirm: 3, person: 'ann' } as const;
  await withLock(made, async (lock) => settleByDecision(await lockedRun(made, lock), word, depsOf(made)));
  receive(made, aReceiptLine(made, 1), aReceiptLine(made, 2, { payload: { destination: aNumber(9) } }));
  const { made: child, left } = await retry(made, 'not-sent');
  expect(left).toMatchObject({ received: 1, retriedBefore: 0 });
  expect((await planIn(made, child?.directory ?? '')).rows.map(({ cells }) => cells[0])).toEqual(numbers(0, 2));
  expect(await reportOf(made)).toMatchObject({ balance: { unprocessed: 1, skipped: 2 } });
  expect(await retry(made, 'not-sent')).toMatchObject({ made: undefined, left: { received: 1, retriedBefore: 2 } });
});
