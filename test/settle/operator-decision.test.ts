import { describe, expect, it } from 'vitest';
import { type OperatorDecision, settleByDecision } from '../../src/settle/settle-rows.js';
import { aCsvOf, aFolder, anSmsStep, aPlan, aTemplate, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, cutJournal, entriesOf, journalOf, outputOf, reportOf } from '../run/a-run.js';
import { findEntry, loseSecond } from './a-run-in-doubt.js';
import { depsOf, lockedRun, withLock } from './an-export.js';

const files = aFolder({ 'people.csv': aCsvOf(6) });
const HOUR = 3_600_000;

/** Two requests of three rows; the answer to the second is lost. */
async function aRunInDoubt(scheduled?: string): Promise<MadePlan> {
  const template = aTemplate(scheduled === undefined ? {} : { scheduled: { at: scheduled } });
  const steps = [anSmsStep({ batchSize: 3, limits: someLimits({ concurrency: 1 }), template })];
  return loseSecond(await aPlan({ files, job: { steps }, nowMs: 1_800_000_000_000 }));
}

const settle = (made: MadePlan, word: Pick<OperatorDecision, 'assume' | 'confirm' | 'step'>, laterMs = 0) => {
  const said = { ...word, person: 'ann on desk-7' };
  const { clock, ...deps } = depsOf(made);
  const later = { ...clock, now: () => clock.now() + laterMs };
  return withLock(made, async (lock) => settleByDecision(await lockedRun(made, lock), said, { ...deps, clock: later }));
};

describe("a person's word", () => {
  it('that they were sent makes rows in doubt accepted, with who said so and when', async () => {
    const made = await aRunInDoubt();
    expect(await settle(made, { assume: 'sent', confirm: 3 })).toEqual({ accepted: 3, rejected: 0, notSent: 0 });
    expect(await reportOf(made)).toMatchObject({ exitCode: 0, balance: { accepted: 6, inDoubt: 0 } });
    expect(outputOf(made, 'results')[3]).toMatch(
      /ASSUMED.*ann on desk-7 said at 2027-01-15T08:00:00.000Z that it was sent/,
    );
    const settled = entriesOf(made.disk, made.directory).find((entry) => entry.type === 'settle');
    expect(settled).toMatchObject({ by: 'person ann on desk-7', at: 1_800_000_000_000 });
  });

  it('that they were not sent leaves them unprocessed, and their run never sends them', async () => {
    const made = await aRunInDoubt();
    expect(await settle(made, { assume: 'not-sent', confirm: 3 })).toEqual({ accepted: 0, rejected: 0, notSent: 3 });
    expect(await reportOf(made)).toMatchObject({ exitCode: 1, balance: { accepted: 3, unprocessed: 3 } });
    expect(outputOf(made, 'unprocessed')[0]).toContain('assumed-not-sent,ann on desk-7 said at');
    const service = aScriptedService();
    await aRun({ made, service, epoch: 9 });
    expect(service.sent).toEqual([]);
  });

  it.each([0, 2, 4])('is refused when it says %i rows and there are 3', async (confirm) => {
    const made = await aRunInDoubt();
    const before = journalOf(made);
    const expected = { code: 'bad-flag', message: expect.stringContaining(`--confirm says ${confirm}, expected 3`) };
    await expect(settle(made, { assume: 'not-sent', confirm })).rejects.toMatchObject(expected);
    expect(journalOf(made)).toBe(before);
  });

  it.each(['sent', 'not-sent'] as const)(
    'that they were %s is refused until their scheduled time has passed',
    async (assume) => {
      // It is 08:00 then.
      const made = await aRunInDoubt('2027-01-15T19:00:00+07:00');
      const before = journalOf(made);
      const word = { assume, confirm: 3 };
      const message = expect.stringContaining('may wait at the service until 15 January 2027 at 19:00 UTC+07:00');
      await expect(settle(made, word, 4 * HOUR - 1)).rejects.toMatchObject({ code: 'bad-plan', message });
      expect(journalOf(made)).toBe(before);
      expect(await settle(made, word, 4 * HOUR)).toMatchObject(assume === 'sent' ? { accepted: 3 } : { notSent: 3 });
    },
  );

  it('is said once: what is settled is in doubt no more', async () => {
    const made = await aRunInDoubt();
    await settle(made, { assume: 'sent', confirm: 3 });
    await expect(settle(made, { assume: 'not-sent', confirm: 3 })).rejects.toThrow('expected 0');
    expect(await settle(made, { assume: 'not-sent', confirm: 0 })).toEqual({ accepted: 0, rejected: 0, notSent: 0 });
  });

  it.each([0, 3])('is refused of a step that the run has not, also with %i to confirm', async (confirm) => {
    const made = await aRunInDoubt();
    const none = settle(made, { assume: 'sent', confirm, step: 2 });
    await expect(none).rejects.toMatchObject({ code: 'bad-flag', message: expect.stringContaining('--step is 2') });
    expect(await settle(made, { assume: 'sent', confirm: 3, step: 1 })).toMatchObject({ accepted: 3 });
  });

  it('is not heard while rows that were under way have no outcome', async () => {
    const made = await aRunInDoubt();
    cutJournal(made, findEntry(made, 'outcome', 2));
    expect((await reportOf(made)).balance.inDoubt).toBe(3);
    await expect(settle(made, { assume: 'not-sent', confirm: 3 })).rejects.toThrow('it ended with 3 rows under way');
  });
});
