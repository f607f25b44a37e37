import { describe, expect, it } from 'vitest';
import { explainEnd } from '../../src/texts/summary-text.js';
import { aPlan, type MadePlan } from '../plan/a-plan.js';
import { aMixedRun, aStoppedRun, files, numbers, numbersOf, sentTo } from '../run/a-mixed-run.js';
import { aRun, aScriptedService, cutJournal, entriesOf, journalOf, reportOf } from '../run/a-run.js';
import { findEntry } from '../settle/a-run-in-doubt.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { applyRetry, planIn, plansOf, retriedPlan, retry } from './a-retry.js';

describe('rows that a stopped run did not reach', () => {
  it('are given up by it: it runs to its end without them, and their plan sends them', async () => {
    const made = await aStoppedRun();
    const child = await retriedPlan(made, 'unprocessed');
    expect(numbersOf(child)).toEqual(numbers(3, 4, 5, 6, 7, 8));
    const own = aScriptedService();
    expect((await aRun({ made, service: own, epoch: 9 })).end.reason).toBe('finished');
    expect(own.sent).toEqual([]);
    const service = aScriptedService();
    await applyRetry(child, { service });
    expect(sentTo(service)).toEqual(numbersOf(child));
    const summary = await reportOf(made);
    const balance = expect.objectContaining({ accepted: 3, skipped: 7, unprocessed: 0 });
    expect([summary.exitCode, summary.balance]).toEqual([1, balance]);
    expect(explainEnd(summary)).toMatch(/^finished; .*; 6 rows claimed by another plan$/);
  });

  it('are not those whose request was under way when the process died', async () => {
    const made = await aStoppedRun();
    cutJournal(made, findEntry(made, 'intent', 3));
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

  type Case = { whole: MadePlan; only: 'rejected' | 'unprocessed'; isRepeated: boolean; when: string };

  /** Applies all that can be, in both orders of the retry and the run itself; then the command again, and all once more. */
  async function expectOnce(made: MadePlan, { whole, only, isRepeated, when }: Case): Promise<void> {
    const sent: string[] = [];
    const apply = async (of: MadePlan) => {
      const service = aScriptedService();
      if (of.plan.retryOf === undefined) await aRun({ made: of, service, epoch: 50 });
      else
        await applyRetry(of, { service, epoch: 50 }).catch((error) => expect(error.code, when).toBe('plan-mismatch'));
      sent.push(...sentTo(service));
    };
    const applyAll = async () => {
      const plans = plansOf(made).filter((directory) => directory !== made.directory);
      for (const directory of plans) await apply(await planIn(made, directory));
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

it('the run ends as it did before rows were claimed, with who claimed them', async () => {
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

it('a plan whose command died before it had claimed its rows is not sent, and the same command claims them', async () => {
  const made = await aMixedRun();
  const journal = journalOf(made);
  const child = await retriedPlan(made, 'rejected');
  expect(made.disk.list('/out/sale/claims')).toHaveLength(1);
  // A person adopts the job without them, as the memory of it has them.
  await made.disk.files.remove('/out/sale/claims');
  made.disk.write(`${made.directory}/journal.ndjson`, journal);
  const service = aScriptedService();
  await expect(applyRetry(child, { service })).rejects.toMatchObject({ code: 'plan-mismatch' });
  expect(sentTo(service)).toEqual([]);
  expect((await retriedPlan(made, 'rejected')).plan.id).toBe(child.plan.id);
  await applyRetry(child, { service });
  expect(sentTo(service)).toEqual(numbersOf(child));
});

it('what was claimed, and not noted since the command died, is noted by the next one', async () => {
  const made = await aMixedRun();
  const journal = journalOf(made);
  const child = await retriedPlan(made, 'rejected');
  made.disk.write(`${made.directory}/journal.ndjson`, journal);
  await expect(applyRetry(child)).resolves.toBeDefined();
  expect(await retry(made, 'rejected')).toMatchObject({ made: undefined, left: { retriedBefore: 4 } });
  expect(await reportOf(made)).toMatchObject({ balance: { rejected: 1, skipped: 5 } });
});
