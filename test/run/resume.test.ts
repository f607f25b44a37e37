import { describe, expect, it } from 'vitest';
import type { UserError } from '../../src/domain/errors.js';
import { listChangedKeys } from '../../src/job/planned-job.js';
import { assertInputsUnchanged, assertSameJob, joinSettings } from '../../src/run/resume.js';
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

  const slow = someLimits({ requestsPerSecond: 1 });
  const lists = [anInput({ files: ['stop.csv'] })];
  const mine = anSmsStep({ limits: slow, suppress: lists });
  const other = anSmsStep({ template: aTemplate({ text: 'Other' }) });
  const changed = { ...mine, template: aTemplate({ text: 'Corrected' }) };

  it.each([
    ['stands where it stood', [job.steps[0]!, mine], slow, lists],
    ['is the first by now', [mine], slow, lists],
    ['is behind one that was put before it', [job.steps[0]!, other, mine], slow, lists],
    ['was changed, and another put before it', [job.steps[0]!, other, changed], someLimits(), lists],
    ['is not there any more', [job.steps[0]!], someLimits(), undefined],
  ])('has limits of now, and omits whom the job omits now, where its step %s', (_where, steps, limits, suppress) => {
    const [, step] = joinSettings(plan, { ...job, steps }, 'RUN').steps;
    expect(step).toMatchObject({ kind: 'sms', limits });
    expect(step?.suppress).toEqual(suppress);
  });

  it.each([
    ['its own', [job.steps[0]!, mine], []],
    ['its own, elsewhere', [other, mine], []],
    ['a corrected one', [job.steps[0]!, changed], ['template.text']],
    ['a corrected one, before another that was put in', [changed, other], ['template.text']],
    ['none', [job.steps[0]!], []],
  ])('is said to send another text than the job only where it does: %s', (_what, steps, keys) => {
    expect(listChangedKeys(plan.job, 1, { ...job, steps })).toEqual(keys);
  });

  it('has none of its rows sent as another step says, which stands in the place of theirs by now', async () => {
    const { plan: ofTwo, job: two } = await aPlan({ job: { steps: [anSmsStep(), other] } });
    expect(assertSameJob(ofTwo, { ...two, steps: [changed, other] }).steps).toEqual([changed, other]);
    expect(() => assertSameJob(ofTwo, { ...two, steps: [other, changed] })).toThrow(
      'step 2 of the run is step 1 of the job now',
    );
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
    const known = { bytes: 1, isFile: true, isDirectory: false, inode: 0, device: 0, mode: 0o600 };
    const stat = async (path: string) =>
      find(path) === undefined ? undefined : { ...known, modifiedMs: 0, bornMs: 0, changedMs: 0 };
    const digestInput = async (path: string) => {
      asked.push(path);
      return { sha256: find(path)! };
    };
    await assertInputsUnchanged(
      { plan: made.plan, directory: 'RUN' },
      { files: { ...made.disk.files, stat }, digestInput },
    );
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
    expect(error.hint).toContain('`volley apply RUN --ignore-changed-inputs`; then run the job again');
  });
});
