import { describe, expect, it } from 'vitest';
import type { UserError } from '../../src/domain/errors.js';
import { assertInputsUnchanged, joinSettings } from '../../src/run/resume.js';
import {
  aContactsStep,
  aCsvOf,
  aJob,
  anInput,
  anSmsStep,
  aPlan,
  aService,
  aTemplate,
  someLimits,
} from '../plan/a-plan.js';

const { plan, job } = await aPlan({ job: { steps: [aContactsStep(), anSmsStep()] } });

describe('an unfinished run under a job that was fixed', () => {
  it('takes limits, guards, credentials and time-outs of the job as it is now', () => {
    const service = aService({ credentials: { sms: { apiKey: { env: 'OTHER' } } }, giveUpAfterSeconds: 1 });
    const guards = { ...job.guards, maxFailedPercent: 3 };
    const slow = someLimits({ requestsPerSecond: 1 });
    const joined = joinSettings(
      plan,
      { ...job, service, guards, steps: [job.steps[0]!, anSmsStep({ limits: slow })] },
      'RUN',
    );
    expect(joined.service).toBe(service);
    expect(joined.guards).toBe(guards);
    expect(joined.steps.map(({ limits }) => limits)).toEqual([someLimits(), slow]);
  });

  it('sends what was planned', () => {
    const steps = [job.steps[0]!, anSmsStep({ template: aTemplate({ text: 'Other' }), batchSize: 1 })];
    expect(joinSettings(plan, { ...job, steps }, 'RUN').steps[1]).toEqual(plan.job.steps[1]);
  });

  it('keeps its limits where the job has another step, or none, in that place', () => {
    const slow = someLimits({ requestsPerSecond: 1 });
    expect(joinSettings(plan, { ...job, steps: [anSmsStep({ limits: slow })] }, 'RUN').steps).toEqual(plan.job.steps);
  });

  it.each([
    ['account in the address of contacts', { account: 'other' }, / other$/],
    ['id of it', { accountId: 'f0b64e0c-6b7a-4d3c-9a2e-0f6d3c1b2a90' }, / f0b64e0c-\S+$/],
    ['subaccount', { subAccountId: 'other_hq' }, / other_hq$/],
    ['address', { bases: { ...aService().bases, sms: 'https://elsewhere.test' } }, /https:\/\/elsewhere.test \S+$/],
    ['sandbox', { sandbox: true }, / sandbox \S+$/],
  ])('is refused where the %s is another, with both', (_what, changes, now) => {
    expect(() => joinSettings(plan, { ...job, service: aService(changes) }, 'RUN')).toThrow(
      expect.objectContaining({
        code: 'plan-mismatch',
        message: expect.stringMatching(
          new RegExp(`^Cannot resume run ${plan.id}: its \\w+ was planned for .*${now.source}`),
        ),
      }),
    );
  });

  it('is not refused where a name of the account is fixed that no request holds', async () => {
    const { plan: ofMessages, job: sms } = await aPlan({ job: { steps: [anSmsStep()] } });
    expect(() => joinSettings(ofMessages, { ...sms, service: aService({ account: 'other' }) }, 'RUN')).not.toThrow();
  });

  it('is not refused where the job now sends elsewhere than its own directory', () => {
    expect(() => joinSettings(plan, { ...aJob(), directory: '/elsewhere' }, 'RUN')).not.toThrow();
  });
});

describe('inputs of an unfinished run', () => {
  const input = anInput({ files: ['people.csv'] });
  const planned = () =>
    aPlan({
      job: { steps: [aContactsStep({ input }), anSmsStep({ input, suppress: [anInput({ files: ['stop.csv'] })] })] },
      files: { 'people.csv': aCsvOf(2), 'stop.csv': aCsvOf(1, 7) },
    });
  /** A disk on which the files have these digests; one without is gone. */
  async function check(digestOf: (name: string, planned: string) => string | undefined) {
    const made = await planned();
    const inputs = made.plan.steps.flatMap((step) => [...step.inputs, ...step.suppression]);
    const asked: string[] = [];
    const find = (path: string) => {
      const known = inputs.find((each) => each.path === path)!;
      return digestOf(known.file, known.sha256);
    };
    const stat = async (path: string) =>
      find(path) === undefined
        ? undefined
        : {
            bytes: 1,
            isFile: true,
            isDirectory: false,
            modifiedMs: 0,
            inode: 0,
            device: 0,
            bornMs: 0,
            changedMs: 0,
            mode: 0o600,
          };
    const digestInput = async (path: string) => {
      asked.push(path);
      return { sha256: find(path)! };
    };
    await assertInputsUnchanged(made.plan, { files: { ...made.disk.files, stat }, digestInput });
    return asked;
  }

  it('that are as they were let it resume, each read once', async () => {
    expect(await check((_name, sha256) => sha256)).toHaveLength(1);
  });

  it('that are gone are no problem: the plan holds them', async () => {
    expect(await check((name, sha256) => (name === 'people.csv' ? undefined : sha256))).toHaveLength(0);
  });

  it('that changed refuse it; suppression lists are looked at as it is sent', async () => {
    const error: UserError = await check(() => 'another').then(
      () => Promise.reject(new Error('expected a refusal')),
      (thrown) => thrown,
    );
    expect(error.code).toBe('input-changed');
    expect(error.problems).toEqual([{ where: 'people.csv', message: 'the file changed since the plan was made' }]);
  });
});
