import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settleByWord } from '../../src/run/settle-word.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aMemoryDisk } from '../a-memory-disk.js';
import {
  aCsvOf,
  aFolder,
  aNumber,
  anInput,
  anSmsStep,
  aPlan,
  linesOf,
  type MadePlan,
  someLimits,
} from '../plan/a-plan.js';
import { applyRetry, planIn, plansOf, retriedPlan, retry } from './a-retry.js';
import { aRun, aScriptedService, batchAnswer, entriesOf, failure, reportOf, response } from './a-run.js';
import { depsOf, withLock } from './an-export.js';

const files = aFolder({ 'people.csv': `${aCsvOf(9)}n/a,nobody\n${aNumber(0)},again\n` });
const ONE_BY_ONE = someLimits({ concurrency: 1 });

/**
 * Nine people in three requests: rows 0 to 2 are accepted but for 1 (refused as `REJECTED`), the answer to 3 to 5 is lost, 6 to 8
 * are refused with code 1100. Two more rows are rejected and skipped by the plan.
 */
async function aMixedRun(): Promise<MadePlan> {
  const steps = [anSmsStep({ batchSize: 3, limits: ONE_BY_ONE, text: 'Hi {{ name }}' })];
  const made = await aPlan({ files, job: { steps } });
  const service = aScriptedService((sent) => {
    if (sent.rows.includes(4)) return failure(true);
    if (sent.rows.some((row) => row >= 6)) return response(400, { code: 1100, message: 'Bulk limit reached' });
    if (!sent.rows.includes(1)) return undefined;
    const answer = batchAnswer(sent);
    const refuse = (one: (typeof answer.messages)[number]) =>
      one.clientMessageId.endsWith('-1') ? { ...one, status: { code: 'REJECTED', description: 'No route' } } : one;
    return response(200, { ...answer, messages: answer.messages.map(refuse) });
  });
  await aRun({ made, service });
  return made;
}

/** A run that stops with its second request, which the service could not take; nothing else was sent. */
async function aStoppedRun(): Promise<MadePlan> {
  const steps = [anSmsStep({ batchSize: 3, limits: ONE_BY_ONE, text: 'Hi {{ name }}' })];
  const made = await aPlan({ files, job: { steps } });
  const stop = new StopSwitch();
  const service = aScriptedService((_sent, count) => {
    if (count !== 2) return undefined;
    stop.request('interrupted', 'SIGTERM');
    return response(503, { code: 2000, message: 'busy' });
  });
  await aRun({ made, service, stop });
  return made;
}

const settleAll = (made: MadePlan, assume: 'sent' | 'not-sent', confirm: number) => {
  const { directory, plan } = made;
  return withLock(made, (lock) =>
    settleByWord({ directory, plan, lock }, { assume, confirm, person: 'ann' }, depsOf(made)),
  );
};
const numbersOf = ({ rows }: MadePlan) => rows.map(({ cells }) => cells[0]);
const numbers = (...rows: number[]) => rows.map(aNumber);
const sentTo = (service: ReturnType<typeof aScriptedService>) =>
  service.sent.flatMap(({ body }) => body.messages?.map(({ destination }) => destination) ?? []);
const outputOf = ({ disk, directory }: MadePlan, name: string) =>
  linesOf(disk.readText(`${directory}/1-sms.${name}.csv`)).slice(1);

describe('the plan of a retry', () => {
  it('holds exactly the rows that the service refused, with their places, texts and ids of their own', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected');
    expect(child.plan).toMatchObject({ format: 3, retryOf: { run: made.plan.id, only: 'rejected', codes: [] } });
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
        { refusedInPlan: 1, inDoubt: 3, underWay: 0, received: 0, retriedBefore: 0 },
      ]);
    }
    expect(plansOf(made)).toEqual([made.plan.id]);
  });

  it('sends its rows when it is applied, and they stand in the account of both runs once', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected');
    const service = aScriptedService();
    await applyRetry(child, { service });
    expect(sentTo(service)).toEqual(numbers(1, 6, 7, 8));
    expect(await reportOf(child)).toMatchObject({
      state: 'finished',
      retryOf: made.plan.id,
      exitCode: 0,
      balance: { read: 4, accepted: 4 },
    });
    expect(await reportOf(made)).toMatchObject({
      retryOf: null,
      balance: { read: 11, accepted: 2, rejected: 1, skipped: 5, inDoubt: 3 },
      steps: [{ skips: { duplicate: 1, retried: 4 } }],
    });
    expect(outputOf(made, 'rejections')).toEqual([expect.stringContaining('normalize')]);
    expect(outputOf(made, 'skipped')[0]).toContain(`retried,"Given to plan ${child.plan.id}, which`);
  });

  it('takes the first row of a request, and the others of it stand in the account as they did', async () => {
    const made = await aPlan({ files, job: { steps: [anSmsStep({ limits: ONE_BY_ONE })] } });
    const service = aScriptedService((sent) => {
      const answer = batchAnswer(sent);
      const refuse = (one: (typeof answer.messages)[number]) =>
        /-[017]$/.test(one.clientMessageId) ? { ...one, status: { code: 'REJECTED', description: 'No route' } } : one;
      return response(200, { ...answer, messages: answer.messages.map(refuse) });
    });
    await aRun({ made, service });
    await reportOf(made);
    const before = outputOf(made, 'results');
    expect(numbersOf(await retriedPlan(made, 'rejected'))).toEqual(numbers(0, 1, 7));
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 6, rejected: 1, skipped: 4 } });
    expect(outputOf(made, 'results')).toEqual(before);
  });

  it('leaves out who opted out since the first run', async () => {
    const folder = aFolder({ 'people.csv': aCsvOf(9), 'opt-outs.csv': `mobile\n${aNumber(50)}\n` });
    const list = join(folder, 'opt-outs.csv');
    const suppress = anInput({ files: ['opt-outs.csv'] });
    const steps = [anSmsStep({ limits: ONE_BY_ONE, suppress })];
    const made = await aPlan({ files: folder, job: { steps } });
    await aRun({ made, service: aScriptedService(() => response(422, { code: 1100, message: 'Bulk limit' })) });
    writeFileSync(list, `mobile\n${aNumber(3)}\n`);
    const child = await retriedPlan(made, 'rejected');
    expect(child.step.counts).toMatchObject({ read: 9, planned: 8, skipped: 1 });
    expect(await reportOf(made)).toMatchObject({ balance: { skipped: 9 }, steps: [{ skips: { retried: 9 } }] });
  });

  it('is not made without its suppression list, and the rows stay with their run', async () => {
    const folder = aFolder({ 'people.csv': aCsvOf(3), 'opt-outs.csv': `mobile\n${aNumber(50)}\n` });
    const steps = [anSmsStep({ limits: ONE_BY_ONE, suppress: anInput({ files: ['opt-outs.csv'] }) })];
    const made = await aPlan({ files: folder, job: { steps } });
    await aRun({ made, service: aScriptedService(() => response(422, { code: 1100, message: 'Bulk limit' })) });
    writeFileSync(join(folder, 'opt-outs.csv'), 'mobile\n');
    await expect(retry(made, 'rejected')).rejects.toMatchObject({ code: 'bad-input' });
    expect(plansOf(made)).toEqual([made.plan.id]);
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

describe('a row is given away once', () => {
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

  it('and what the second run could not send is given away by the second', async () => {
    const made = await aMixedRun();
    const child = await retriedPlan(made, 'rejected', ['1100']);
    const refuse = aScriptedService((sent) => (sent.rows.includes(1) ? response(422, { code: 1100 }) : undefined));
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
    await settleAll(made, 'not-sent', 3);
    const child = await retriedPlan(made, 'not-sent');
    expect(numbersOf(child)).toEqual(numbers(3, 4, 5));
    expect((await retry(made, 'not-sent')).made).toBeUndefined();
    expect(await reportOf(made)).toMatchObject({ exitCode: 1, balance: { unprocessed: 0, skipped: 4, inDoubt: 0 } });
  });

  it('never when it was in doubt and is settled as sent', async () => {
    const made = await aMixedRun();
    await settleAll(made, 'sent', 3);
    expect((await retry(made, 'not-sent')).made).toBeUndefined();
  });
});

describe('rows that a stopped run did not reach', () => {
  it('are given up by it: it goes on to its end without them, and their plan sends them', async () => {
    const made = await aStoppedRun();
    const child = await retriedPlan(made, 'unprocessed');
    expect(numbersOf(child)).toEqual(numbers(3, 4, 5, 6, 7, 8));
    const own = aScriptedService();
    expect((await aRun({ made, service: own, epoch: 9 })).end.reason).toBe('finished');
    expect(own.sent).toEqual([]);
    const service = aScriptedService();
    await applyRetry(child, { service });
    expect(sentTo(service)).toEqual(numbersOf(child));
    expect(await reportOf(made)).toMatchObject({
      state: 'finished',
      exitCode: 1,
      balance: { accepted: 3, skipped: 7, unprocessed: 0 },
    });
  });

  it('are not those whose request was under way when the process died', async () => {
    const made = await aStoppedRun();
    const path = `${made.directory}/journal.ndjson`;
    const lines = linesOf(made.disk.readText(path)).filter((line) => line !== '');
    const lost = lines.findIndex((line) => line.includes('"outcome"') && line.includes('"request":2'));
    made.disk.write(path, `${lines.slice(0, lost).join('\n')}\n`);
    const child = await retriedPlan(made, 'unprocessed');
    expect(numbersOf(child)).toEqual(numbers(6, 7, 8));
    const service = aScriptedService();
    await aRun({ made, service, epoch: 9 });
    expect([service.sent, (await reportOf(made)).balance]).toEqual([[], expect.objectContaining({ inDoubt: 3 })]);
  });

  it('are given to no plan that a guard does not let pass: the run still has them', async () => {
    const made = await aStoppedRun();
    const plan = { ...made.plan, job: { ...made.plan.job, guards: { ...made.plan.job.guards, maxMessages: 1 } } };
    await expect(retry({ ...made, plan }, 'unprocessed')).rejects.toMatchObject({ code: 'guard' });
    const service = aScriptedService();
    await aRun({ made, service, epoch: 9 });
    expect(sentTo(service)).toEqual(numbers(3, 4, 5, 6, 7, 8));
  });
});

describe('a retry that is cut short', () => {
  const onDisk = (made: MadePlan, content: Record<string, string>): MadePlan => ({
    ...made,
    disk: aMemoryDisk(Object.fromEntries(Object.entries(content).map(([path, text]) => [`/out/${path}`, text]))),
  });

  it.each(['rejected', 'unprocessed'] as const)(
    'by kill -9 at any moment (%s): what is on disk sends no row twice, and the same command makes it good',
    async (only) => {
      const base = await (only === 'rejected' ? aMixedRun() : aStoppedRun());
      const content = base.disk.snapshot('/out');
      const watched = onDisk(base, content);
      const moments: Record<string, string>[] = [];
      watched.disk.onOperation = () => moments.push(watched.disk.snapshot('/out'));
      const whole = await retriedPlan(watched, only);
      expect(moments.length).toBeGreaterThan(50);
      const seen = new Set<string>();
      for (const [n, moment] of moments.entries()) {
        const key = JSON.stringify(moment);
        if (seen.has(key)) continue;
        seen.add(key);
        for (const isRepeated of [true, false])
          await expectOnce(onDisk(base, moment), { whole, only, isRepeated, when: `moment ${n}` });
      }
    },
  );

  /** Applies all that can be, in both orders of the retry and the run itself; then the command again, and all once more. */
  async function expectOnce(
    made: MadePlan,
    {
      whole,
      only,
      isRepeated,
      when,
    }: { whole: MadePlan; only: 'rejected' | 'unprocessed'; isRepeated: boolean; when: string },
  ): Promise<void> {
    const sent: string[] = [];
    const apply = async (of: MadePlan) => {
      const service = aScriptedService();
      if (of.plan.retryOf === undefined) await aRun({ made: of, service, epoch: 50 });
      else
        await applyRetry(of, { service, epoch: 50 }).catch((error) => expect(error.code, when).toBe('plan-mismatch'));
      sent.push(...sentTo(service));
    };
    const applyAll = async () => {
      const plans = plansOf(made).filter((id) => id !== made.plan.id);
      for (const id of plans) await apply(await planIn(made, `/out/sale/${id}`));
      await apply(made);
    };
    if (!isRepeated) await applyAll();
    const again = await retry(made, only);
    if (again.made !== undefined)
      expect([...numbersOf(whole)], when).toEqual(
        expect.arrayContaining(numbersOf(await planIn(made, again.made.directory))),
      );
    await applyAll();
    expect(
      sent.filter((number, index) => sent.indexOf(number) !== index),
      when,
    ).toEqual([]);
    expect([...sent].sort(), when).toEqual(numbersOf(whole).sort());
  }
});

it('a plan that was never applied has nothing to retry: it is to be applied', async () => {
  const made = await aPlan({ files });
  await expect(retry(made, 'unprocessed')).rejects.toMatchObject({ code: 'bad-plan' });
});

it('the run ends as it did before rows were given away, with who gave them', async () => {
  const made = await aMixedRun();
  const close = entriesOf(made.disk, made.directory).at(-1);
  const child = await retriedPlan(made, 'rejected');
  const [given, last] = entriesOf(made.disk, made.directory).slice(-2);
  expect(last).toEqual(close);
  expect(given).toMatchObject({
    type: 'retry',
    by: 'person ann on desk-7',
    plan: child.plan.id,
    status: 'rejected',
    rows: [
      [1, 1, 1],
      [1, 6, 3],
    ],
  });
});
