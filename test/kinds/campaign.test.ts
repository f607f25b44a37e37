import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/domain/errors.js';
import type { CampaignStep } from '../../src/job/job.js';
import { campaignKind } from '../../src/kinds/campaign.js';
import type { EarlierAction } from '../../src/kinds/step-kind.js';
import { readCampaignBody } from '../../src/service/areas/campaign.js';
import { someLimits } from '../plan/a-plan.js';
import { anActionContext, someFigures } from './an-action.js';

const STOPPED = { reason: 'guard', detail: '' };
const READ = ['read a campaign', { campaignId: 101 }];
const CHANGE = ['change a campaign', { campaignId: 101, target: 'PAUSED' }];

function aStep(changes: Partial<CampaignStep> = {}): CampaignStep {
  return {
    kind: 'campaign',
    campaign: 101,
    expect: undefined,
    set: 'PAUSED',
    always: false,
    limits: someLimits(),
    ...changes,
  };
}

/** As the service tells of it: running 3, paused 8, stopped 5. */
function aCampaign(status: number) {
  return readCampaignBody({ campaign: { 'campaign-id': 101, status, enabled: 'Y', 'dynamic-campaign': 'Y' } });
}

describe('turn of a campaign step', () => {
  it('comes while nothing stopped the run, and always where the step says so', () => {
    expect(campaignKind.isDue(aStep(), someFigures(), [])).toBe(true);
    expect(campaignKind.isDue(aStep(), someFigures({ stop: STOPPED }), [])).toBe(false);
    expect(campaignKind.isDue(aStep({ always: true }), someFigures({ stop: STOPPED }), [])).toBe(true);
  });

  it.each<[EarlierAction['verdict'], boolean]>([
    [undefined, false],
    [{ status: 'rejected', code: 'not-as-expected', reason: '' }, false],
    [{ status: 'accepted', code: 'PAUSED', reason: '' }, true],
    [{ status: 'in-doubt', code: 'no-answer', reason: '' }, true],
  ])('does not come in a stopped run where an earlier step on the campaign was %j', (verdict, isDue) => {
    const resume = aStep({ set: 'RUNNING', always: true });
    const isDueAfter = (step: CampaignStep) =>
      campaignKind.isDue(resume, someFigures({ stop: STOPPED }), [{ step, verdict }]);
    expect(isDueAfter(aStep())).toBe(isDue);
    expect(isDueAfter(aStep({ campaign: 102 })), 'another campaign').toBe(true);
    expect(isDueAfter(aStep({ set: undefined, expect: ['RUNNING'] })), 'a mere look').toBe(true);
    expect(campaignKind.isDue(resume, someFigures(), [{ step: aStep(), verdict }]), 'a good run').toBe(true);
  });

  it('is shown in the plan', () => {
    expect(campaignKind.describe(aStep({ expect: ['RUNNING', 'PAUSED'], always: true }))).toEqual({
      to: 'campaign 101',
      text: 'expect RUNNING or PAUSED, set PAUSED, even if an earlier step stopped the run',
    });
  });
});

describe('campaign step', () => {
  it('reads first, and begins only right before it changes anything', async () => {
    const { context, told } = anActionContext([aCampaign(3), undefined]);
    expect(await campaignKind.perform(aStep(), context)).toMatchObject({ status: 'accepted', code: 'PAUSED' });
    expect(told).toEqual([READ, 'begin', CHANGE]);
  });

  it('changes nothing where the campaign is there already, or only a status is expected', async () => {
    for (const step of [aStep(), aStep({ set: undefined, expect: ['PAUSED'] })]) {
      const { context, told } = anActionContext([aCampaign(8)]);
      expect(await campaignKind.perform(step, context)).toMatchObject({ status: 'accepted', code: 'PAUSED' });
      expect(told).toEqual([READ]);
    }
  });

  it.each([
    ['not-as-expected', aStep({ expect: ['PAUSED'] }), 3],
    ['impossible-change', aStep({ set: 'RUNNING' }), 5],
  ])('is refused as %s before anything is changed', async (code, step, status) => {
    const { context, told } = anActionContext([aCampaign(status)]);
    expect(await campaignKind.perform(step, context)).toMatchObject({ status: 'rejected', code });
    expect(told).toEqual([READ]);
  });

  const unknown = new ServiceError('in-doubt', 'HTTP 206');

  it('without a clear answer asks for the status, with growing pauses, until it is there', async () => {
    const { context, told } = anActionContext([aCampaign(3), unknown, aCampaign(3), aCampaign(3), aCampaign(8)]);
    expect(await campaignKind.perform(aStep(), context)).toMatchObject({ status: 'accepted', code: 'PAUSED' });
    expect(told).toEqual([READ, 'begin', CHANGE, READ, '1000 ms', READ, '2000 ms', READ]);
  });

  it('is in doubt where the status never comes about, and the change is not made again', async () => {
    const { context, told } = anActionContext([aCampaign(3), unknown, ...Array(4).fill(aCampaign(3))]);
    expect(await campaignKind.perform(aStep(), context)).toMatchObject({ status: 'in-doubt' });
    expect(told.filter((each) => JSON.stringify(each) === JSON.stringify(CHANGE))).toHaveLength(1);
    expect(told).toContain('4000 ms');
  });

  it('is in doubt, and not refused, where the status cannot be read after the change', async () => {
    const failures = ['unauthorized', 'unavailable', 'refused', 'bad-answer'] as const;
    const reads = failures.map((code) => new ServiceError(code, 'HTTP 4xx'));
    const { context } = anActionContext([aCampaign(3), unknown, ...reads]);
    const verdict = await campaignKind.perform(aStep(), context);
    expect(verdict).toMatchObject({ status: 'in-doubt', reason: expect.stringContaining('cannot be read') });
  });

  it('takes what it brought about itself in an earlier process for what is expected', async () => {
    const step = aStep({ expect: ['RUNNING'] });
    const { context } = anActionContext([aCampaign(8)]);
    expect(await campaignKind.perform(step, { ...context, wasBegun: true })).toMatchObject({ status: 'accepted' });
  });

  it('pauses a scheduled campaign only where that is expected: set to RUNNING afterwards it would dial too early', async () => {
    const verdictOf = (step: CampaignStep) =>
      campaignKind.perform(step, anActionContext([aCampaign(2), undefined]).context);
    expect(await verdictOf(aStep())).toMatchObject({ status: 'rejected', code: 'impossible-change' });
    expect(await verdictOf(aStep({ expect: ['SCHEDULED'] }))).toMatchObject({ status: 'accepted', code: 'PAUSED' });
  });

  it('leaves any other failure to the run', async () => {
    const refused = new ServiceError('refused', 'HTTP 400');
    await expect(campaignKind.perform(aStep(), anActionContext([aCampaign(3), refused]).context)).rejects.toBe(refused);
  });
});
