import { describe, expect, it } from 'vitest';
import type { Step } from '../../src/job/job.js';
import { SMS_WHOLE_REQUEST } from '../../src/kinds/sms/sms.js';
import { assertNotRefused } from '../../src/run/checks-before.js';
import { aContactsStep, aCsvOf, aFolder, anSmsStep, aPlan, aTemplate, refusalOf, someLimits } from '../plan/a-plan.js';
import { applyRetry, retriedPlan } from '../retry/a-retry.js';
import { aRun, aScriptedService, duplicatesAmong, reportOf, response } from './a-run.js';
import { aStart } from './a-verification-run.js';

const files = aFolder({ 'people.csv': aCsvOf(500) });
const step = anSmsStep({ limits: someLimits({ concurrency: 8 }) });
const refusing = (code: number) => aScriptedService(() => response(400, { code, message: 'No', errorId: 'e' }));

describe('a refusal that concerns every row of the step alike', () => {
  it.each([...SMS_WHOLE_REQUEST])(
    'code %s is never split: the run stops at the first request, with %s',
    async (code, about) => {
      const made = await aPlan({ files, job: { steps: [step] } });
      const service = refusing(Number(code));
      const { end } = await aRun({ made, service });
      expect(end).toMatchObject({ reason: 'request-refused', detail: expect.stringContaining(about) });
      expect(end.detail).toContain(`code ${code}`);
      // Its plan keeps what is about the step alone.
      expect(end.fault).toBe(about.startsWith('service.') ? 'service-setting' : undefined);
      expect(service.sent).toHaveLength(1);
      expect(await reportOf(made)).toMatchObject({ exitCode: 4, balance: { rejected: 10, unprocessed: 490 } });
      // The same command again costs nothing.
      await expect(assertNotRefused(made.disk.files, made, made.plan.job.guards)).rejects.toMatchObject({
        code: 'guard',
        message: expect.stringContaining(`code ${code}`),
        hint: expect.stringContaining('--only unprocessed`, with --job'),
      });
    },
  );

  it('within a stage leaves the rest to a retry only once the run is let go, and says so', async () => {
    const made = await aPlan({ files, job: { steps: [{ ...step, ramp: [{ size: { percent: 10 } }] }] } });
    await aRun({ made, service: refusing(1005) });
    const hint = expect.stringContaining('` and then `volley retry');
    const expected = { code: 'guard', hint };
    await expect(assertNotRefused(made.disk.files, made, made.plan.job.guards)).rejects.toMatchObject(expected);
  });

  it.each([1002, 1004, 1009, 1100])('code %i is about rows: the batch is halved as ever', async (code) => {
    const made = await aPlan({ files: { 'people.csv': aCsvOf(4) }, job: { steps: [step] } });
    const service = refusing(code);
    await aRun({ made, service });
    expect(service.sent.length).toBeGreaterThan(4);
  });

  it.each<[Step['kind'], number, Partial<Step>]>([
    ['verification.start', 1005, aStart()],
    ['verification.start', 1300, aStart()],
    ['contacts', 1300, aContactsStep()],
  ])('stops a step of %s, too: code %i', async (_, code, other) => {
    const made = await aPlan({ files, job: { steps: [other as Step] } });
    const service = refusing(code);
    expect((await aRun({ made, service })).end.reason).toBe('request-refused');
    expect((await reportOf(made)).balance.unprocessed).toBeGreaterThan(480);
  });

  it('is tried again where a person applies the run once more, and resumes when it was fixed at the service', async () => {
    const made = await aPlan({ files, job: { steps: [step] } });
    await aRun({ made, service: refusing(1005) });
    const fixed = aScriptedService();
    expect((await aRun({ made, service: fixed, epoch: 2 })).end.reason).toBe('finished');
    expect(duplicatesAmong(fixed.accepted)).toEqual([]);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 490, rejected: 10 });
  });
});

it('a run that the service refused as it is is resumed with the job as it was fixed: what is left, and what was refused, each row once', async () => {
  const made = await aPlan({ files, job: { steps: [step] } });
  await aRun({ made, service: refusing(1005) });
  const steps = made.plan.job.steps.map((each) => ({ ...each, template: aTemplate({ source: 'FIXED' }) }) as Step);
  const job = { ...made.plan.job, steps };
  const service = aScriptedService();
  for (const only of ['unprocessed', 'rejected'] as const) {
    const child = await retriedPlan(made, only, [], job);
    expect(child.requests.every(({ json }) => JSON.stringify(json.template).includes('FIXED'))).toBe(true);
    await applyRetry(child, { service });
  }
  expect(new Set(service.sent.flatMap(({ body }) => body.messages?.map((each) => each.destination))).size).toBe(500);
  expect(service.accepted).toHaveLength(500);
  // Its own run has nothing left to send, and may end.
  await expect(assertNotRefused(made.disk.files, made, made.plan.job.guards)).resolves.toBeUndefined();
});

describe('a schedule', () => {
  const scheduled = (text: string) => anSmsStep({ template: aTemplate({ scheduled: { at: text } }) });
  const now = '2026-11-22T12:00:00Z';

  it.each([
    ['2026-11-22T11:00:00Z', '22 November 2026 at 11:00 UTC'],
    ['2026-12-15T00:00:00Z', '15 December 2026 at 00:00 UTC'],
  ])('of %s refuses the plan', async (text, said) => {
    const { problems, error } = await refusalOf({ job: { steps: [scheduled(text)] }, nowMs: Date.parse(now) });
    expect(error.code).toBe('bad-job');
    expect(problems).toEqual([expect.stringContaining(`step 1 (sms): template.scheduled, ${said}, is`)]);
  });

  it('that has passed by the time of sending sends nothing', async () => {
    // The clock of a run in these tests begins at 2027-01-15T08:00:00Z.
    const made = await aPlan({ job: { steps: [scheduled('2026-11-22T13:00:00Z')] }, nowMs: Date.parse(now) });
    const service = aScriptedService();
    await expect(aRun({ made, service })).rejects.toMatchObject({ code: 'guard' });
    expect(service.sent).toEqual([]);
    expect(made.disk.has(`${made.directory}/journal.ndjson`)).toBe(false);
  });

  it('that passes while the step is sent stops it: nothing is sent at once in its place', async () => {
    const text = '2027-01-15T08:00:05Z';
    const made = await aPlan({ files, job: { steps: [scheduled(text)] }, nowMs: Date.parse('2027-01-15T07:00:00Z') });
    const service = aScriptedService((_sent, count) =>
      count === 2 ? response(429, { code: 429, errorId: 'e' }, { 'retry-after': '60' }) : undefined,
    );
    expect((await aRun({ made, service })).end).toMatchObject({ reason: 'guard', fault: 'time-passed' });
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 10, unprocessed: 490 });
  });
});
