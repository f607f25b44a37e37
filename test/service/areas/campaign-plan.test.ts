import { describe, expect, test } from 'vitest';
import { CAMPAIGN_PLATFORMS, type CampaignTarget, CC_PLATFORM } from '../../../src/domain/service-facts.js';
import { type Campaign, planChange, readCampaignBody } from '../../../src/service/areas/campaign.js';

function aCampaign(fields: object = {}): Campaign {
  const campaign = { 'campaign-id': 101, status: 3, enabled: 'Y', 'dynamic-campaign': 'Y', ...fields };
  return readCampaignBody({ campaign })!;
}

const planKind = (status: number, target: CampaignTarget) => planChange(aCampaign({ status }), target).kind;

describe('a campaign’s status', () => {
  test.each([
    [0, 'NEW', /not started or scheduled/],
    [1, 'RUNNING', /started manually/],
    [2, 'SCHEDULED', /start time not yet reached/],
    [3, 'RUNNING', /runs at once/],
    [4, 'RUNNING', /scheduled start time reached/],
    [5, 'STOPPED', /stopped manually/],
    [6, 'STOPPED', /all records completed/],
    [7, 'STOPPED', /scheduled stop time/],
    [8, 'PAUSED', /queued records continue/],
    [9, 'PAUSED', /schedule paused/],
    [10, 'PURGED', /flushed/],
    [11, 'PURGED', /schedule purged/],
  ] as const)('%i is %s', (status, state, meaning) => {
    expect(aCampaign({ status })).toMatchObject({ state, meaning: expect.stringMatching(meaning) });
  });
});

describe('a change', () => {
  // Rows: the twelve numbers; columns: RUNNING, PAUSED, PURGED, STOPPED.
  test.each([
    [0, 'change', 'refused', 'refused', 'refused'],
    [1, 'none', 'change', 'refused', 'change'],
    [2, 'refused', 'change', 'refused', 'change'],
    [3, 'none', 'change', 'refused', 'change'],
    [4, 'none', 'change', 'refused', 'change'],
    [5, 'refused', 'refused', 'refused', 'none'],
    [6, 'refused', 'refused', 'refused', 'none'],
    [7, 'refused', 'refused', 'refused', 'none'],
    [8, 'change', 'none', 'change', 'change'],
    [9, 'change', 'none', 'change', 'change'],
    [10, 'change', 'refused', 'none', 'change'],
    [11, 'change', 'refused', 'none', 'change'],
  ] as const)('from %i to RUNNING: %s, PAUSED: %s, PURGED: %s, STOPPED: %s', (status, ...kinds) => {
    const targets = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const;
    expect(targets.map((target) => planKind(status, target))).toEqual(kinds);
  });

  test.each([
    [{ 'dynamic-campaign': 'N' }, 'campaign 101 is not a dynamic campaign'],
    [{ enabled: 'N' }, 'campaign 101 is not enabled'],
    [{ status: 6 }, 'campaign 101 is stopped (completed: all records completed, stopped) and cannot be restarted'],
    [{ status: 2 }, 'campaign 101 is scheduled'],
    [{ status: 0 }, 'campaign 101 is NEW'],
  ])('that is impossible for %j says why: %s', (campaign, reason) => {
    const target = 'status' in campaign && campaign.status === 2 ? 'RUNNING' : 'PAUSED';
    expect(planChange(aCampaign(campaign), target)).toEqual({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    });
  });

  test('is left to the service where the answer did not say whether the campaign is dynamic and enabled', () => {
    const campaign = aCampaign({ 'dynamic-campaign': '', enabled: undefined });
    expect(planChange(campaign, 'PAUSED')).toEqual({ kind: 'change' });
  });

  test('to where the campaign is already is none, also where it could not be made', () => {
    expect(planChange(aCampaign({ 'dynamic-campaign': 'N', enabled: 'N' }), 'RUNNING')).toEqual({ kind: 'none' });
  });
});

describe('a platform', () => {
  test.each([...Object.keys(CAMPAIGN_PLATFORMS), 'NA12', 'eu5', 'sb-test1'])('%s forms an address', (platform) => {
    expect(CC_PLATFORM.test(platform)).toBe(true);
  });

  test.each(['', 'US1', 'N', '1NA', 'NA.evil.example', 'na1/', 'na 1', 'na-', `na${'1'.repeat(30)}`, 'na1\n'])(
    '%j forms none',
    (platform) => expect(CC_PLATFORM.test(platform)).toBe(false),
  );
});
