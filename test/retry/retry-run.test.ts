import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SmsStep } from '../../src/job/job.js';
import { aCsvOf, aFolder, aNumber, anInput, anSmsStep, aPlan } from '../plan/a-plan.js';
import { aMixedRun, files, numbers, numbersOf, ONE_BY_ONE, refuseEach, sentTo, settleAll } from '../run/a-mixed-run.js';
import { aRun, aScriptedService, outputOf, reportOf, response } from '../run/a-run.js';
import { applyRetry, plansOf, retriedPlan, retry } from './a-retry.js';

describe('the plan of a retry', () => {
  it('holds exactly the rows that the service refused, with their places, texts and ids of their own', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected');
    expect(child.plan).toMatchObject({ format: 1, retryOf: { run: made.plan.id, only: 'rejected', codes: [] } });
    expect(numbersOf(child)).toEqual(numbers(1, 6, 7, 8));
    expect(child.rows.map(({ row }) => row)).toEqual([2, 7, 8, 9]);
    const { messages } = child.requests[0]!.json;
    expect(messages[0]).toEqual({ destination: aNumber(1), clientMessageId: `${child.plan.id}-1-0`, text: 'Hi n1' });
    expect(child.plan.id).not.toBe(made.plan.id);
  });

  it('holds those alone that were refused with one of the codes', async () => {
    expect(numbersOf(await retriedPlan(await aMixedRun(), 'rejected', ['REJECTED']))).toEqual(numbers(1));
    expect(numbersOf(await retriedPlan(await aMixedRun(), 'rejected', ['1100', '1002']))).toEqual(numbers(6, 7, 8));
  });

  it('never holds a row in doubt, and says how many there are, and how many the plan had refused', async () => {
    const made = await aMixedRun();
    for (const only of ['unprocessed', 'not-sent'] as const) {
      const { made: child, left } = await retry(made, only);
      expect([child, left]).toEqual([
        undefined,
        { refusedInPlan: 1, inDoubt: 3, underWay: 0, received: 0, retriedBefore: 0, filtered: 0 },
      ]);
    }
    expect(plansOf(made)).toEqual([made.directory]);
  });

  it('sends its rows when it is applied, and they stand in the account of both runs once', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected');
    const service = aScriptedService();
    await applyRetry(child, { service });
    expect(sentTo(service)).toEqual(numbers(1, 6, 7, 8));
    const expected = { state: 'finished', retryOf: made.plan.id, exitCode: 0, balance: { read: 4, accepted: 4 } };
    expect(await reportOf(child)).toMatchObject(expected);
    expect(await reportOf(made)).toMatchObject({
      retryOf: null,
      balance: { read: 11, accepted: 2, rejected: 1, skipped: 5, inDoubt: 3 },
      steps: [{ skips: { duplicate: 1, retried: 4 } }],
    });
    expect(outputOf(made, 'rejections')).toEqual([expect.stringContaining('normalize')]);
    expect(outputOf(made, 'skipped')[0]).toContain(`retried,"Claimed by plan ${child.plan.id}, which`);
  });

  it('takes the first row of a request, and the others of it stand in the account as they did', async () => {
    const made = await aPlan({ files, job: { steps: [anSmsStep({ limits: ONE_BY_ONE })] } });
    const service = aScriptedService((sent) => refuseEach(sent, /-[017]$/));
    await aRun({ made, service });
    await reportOf(made);
    const before = outputOf(made, 'results');
    expect(numbersOf(await retriedPlan(made, 'rejected'))).toEqual(numbers(0, 1, 7));
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 6, rejected: 1, skipped: 4 } });
    expect(outputOf(made, 'results')).toEqual(before);
  });

  it('omits a row that goes to another number of its people now, where the run sent that one a message', async () => {
    const home = [1, 50].map((place, row) => `${aNumber(row)},n${row},${aNumber(place)}\n`).join('');
    const made = await aPlan({ files: { 'people.csv': `mobile,name,home\n${home}${aNumber(2)},n2,${aNumber(51)}\n` } });
    await aRun({ made, service: aScriptedService((sent) => refuseEach(sent, /-[02]$/)) });
    const job = { ...made.job, steps: [anSmsStep({ destination: 'home' })] };
    const child = await retriedPlan(made, 'rejected', [], job);
    expect(child.rows.map(({ state, cells }) => [state, cells[1]])).toEqual([
      ['skipped', 'n0'],
      ['planned', 'n2'],
    ]);
  });

  it('reads its run once less where what it sends to was compared when that was planned', async () => {
    const countReads = async (step: Partial<SmsStep>) => {
      const made = await aMixedRun();
      const job = { ...made.job, steps: made.job.steps.map((each) => ({ ...each, ...step }) as SmsStep) };
      let reads = 0;
      made.disk.onOperation = (operation) => {
        if (operation.startsWith(`open ${made.directory}`) && operation.includes('.rows.')) reads += 1;
      };
      await retry(made, 'rejected', [], job);
      return reads;
    };
    expect(await countReads({})).toBe((await countReads({ batchSize: 2 })) - 1);
  });

  it('omits who opted out since the first run', async () => {
    const folder = aFolder({ 'people.csv': aCsvOf(9), 'opt-outs.csv': `mobile\n${aNumber(50)}\n` });
    const list = join(folder, 'opt-outs.csv');
    const suppress = [anInput({ files: ['opt-outs.csv'] })];
    const steps = [anSmsStep({ limits: ONE_BY_ONE, suppress })];
    const made = await aPlan({ files: folder, job: { steps } });
    await aRun({ made, service: aScriptedService(() => response(422, { code: 1100, message: 'Bulk limit' })) });
    writeFileSync(list, `mobile\n${aNumber(3)}\n`);
    expect((await retriedPlan(made, 'rejected')).step.counts).toMatchObject({ read: 9, planned: 8, skipped: 1 });
    expect(await reportOf(made)).toMatchObject({ balance: { skipped: 9 }, steps: [{ skips: { retried: 9 } }] });
  });

  it('is not made without its suppression list, and the rows stay with their run', async () => {
    const folder = aFolder({ 'people.csv': aCsvOf(3), 'opt-outs.csv': `mobile\n${aNumber(50)}\n` });
    const steps = [anSmsStep({ limits: ONE_BY_ONE, suppress: [anInput({ files: ['opt-outs.csv'] })] })];
    const made = await aPlan({ files: folder, job: { steps } });
    await aRun({ made, service: aScriptedService(() => response(422, { code: 1100, message: 'Bulk limit' })) });
    writeFileSync(join(folder, 'opt-outs.csv'), 'mobile\n');
    await expect(retry(made, 'rejected')).rejects.toMatchObject({ code: 'bad-input' });
    expect(plansOf(made)).toEqual([made.directory]);
    expect(await reportOf(made)).toMatchObject({ balance: { rejected: 3, skipped: 0 } });
  });

  it('is made of the rows as they were, whatever became of their file', async () => {
    const folder = aFolder({ 'people.csv': aCsvOf(3) });
    const made = await aPlan({ files: folder, job: { steps: [anSmsStep({ limits: ONE_BY_ONE })] } });
    await aRun({ made, service: aScriptedService(() => response(422, { code: 1100, message: 'Bulk limit' })) });
    writeFileSync(join(folder, 'people.csv'), 'mobile,name\n');
    expect(numbersOf(await retriedPlan(made, 'rejected'))).toEqual(numbers(0, 1, 2));
  });
});

describe('a row is claimed once', () => {
  it('by the same command, and by one that would take it with others', async () => {
    const made = await aMixedRun();
    const first = await retriedPlan(made, 'rejected', ['1100']);
    expect(await retry(made, 'rejected', ['1100'])).toMatchObject({ made: undefined, left: { retriedBefore: 3 } });
    const second = await retriedPlan(made, 'rejected');
    expect([numbersOf(first), numbersOf(second)]).toEqual([numbers(6, 7, 8), numbers(1)]);
    expect(await retry(made, 'rejected')).toMatchObject({ made: undefined, codes: {}, left: { retriedBefore: 4 } });
    expect(await reportOf(made)).toMatchObject({ balance: { rejected: 1, skipped: 5 } });
  });

  it('also when its plan is gone: it may have been sent', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected');
    await made.disk.files.remove(child.directory);
    expect((await retry(made, 'rejected')).made).toBeUndefined();
  });

  it('and what the second run could not send is claimed from the second', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected', ['1100']);
    const refuse = aScriptedService((sent) =>
      sent.rows.includes(1) ? response(422, { code: 1100, message: 'Bulk limit' }) : undefined,
    );
    await applyRetry(child, { service: refuse });
    const grandchild = await retriedPlan(child, 'rejected');
    const service = aScriptedService();
    await applyRetry(grandchild, { service });
    expect(grandchild.plan.retryOf?.run).toBe(child.plan.id);
    expect(sentTo(service)).toEqual(numbersOf(grandchild));
    expect((await retry(made, 'rejected', ['1100'])).made).toBeUndefined();
  });

  it('when it was in doubt, once it is settled as not sent', async () => {
    const made = await aMixedRun();
    await settleAll(made, 'not-sent');
    const child = await retriedPlan(made, 'not-sent');
    expect(numbersOf(child)).toEqual(numbers(3, 4, 5));
    expect((await retry(made, 'not-sent')).made).toBeUndefined();
    expect(await reportOf(made)).toMatchObject({ exitCode: 1, balance: { unprocessed: 0, skipped: 4, inDoubt: 0 } });
  });

  it('never when it was in doubt and is settled as sent', async () => {
    const made = await aMixedRun();
    await settleAll(made, 'sent');
    expect((await retry(made, 'not-sent')).made).toBeUndefined();
  });
});
