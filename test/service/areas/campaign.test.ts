import { describe, expect, test } from 'vitest';
import { type Campaign, changeCampaign, planChange, readCampaign } from '../../../src/service/areas/campaign.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

const AS_READ = {
  'campaign-name': 'spring',
  'campaign-id': 101,
  enabled: 'Y',
  status: 3,
  'no-of-records': 1200,
  'dynamic-campaign': 'Y',
  // Of no use to Volley, as are others that the contract lists.
  'caller-id': 6560000000,
  timezone: 'UTC',
};
const CHANGE = { campaignId: 101, target: 'PAUSED' } as const;

const read = (campaign: unknown) => readCampaign.read(aResponse({ campaign }), { campaignId: 101 });
const aCampaign = (fields: object = {}): Campaign => read({ ...AS_READ, ...fields })!;

describe('a campaign', () => {
  test('is read: what Volley uses by name, and all as it stands', () => {
    expect(read(AS_READ)).toEqual({
      id: 101,
      name: 'spring',
      status: 3,
      state: 'RUNNING',
      meaning: expect.stringContaining('manual running'),
      isEnabled: true,
      isDynamic: true,
      recordCount: 1200,
      fields: AS_READ,
    });
    const written = { ...AS_READ, 'campaign-id': '101', status: '8', 'no-of-records': '5', 'dynamic-campaign': 'N' };
    expect(read(written)).toMatchObject({ id: 101, status: 8, recordCount: 5, isDynamic: false });
  });

  test('is undefined about what the answer does not say', () => {
    const unknown = { isEnabled: undefined, isDynamic: undefined, recordCount: undefined };
    const expected = { name: '', state: 'NEW', ...unknown };
    expect(read({ 'campaign-id': 101, status: 0, enabled: 'yes' })).toMatchObject(expected);
  });

  test.each([undefined, null, '', 'RUNNING', 3.5, -1, 12])('is none with the status %j', (status) => {
    expect(read({ ...AS_READ, status })).toBeUndefined();
  });

  test.each([102, '102', undefined, null, 101.5])('is none with the id %j instead of the one asked for', (id) => {
    expect(read({ ...AS_READ, 'campaign-id': id })).toBeUndefined();
  });

  test.each([...NO_OBJECTS, {}, { campaign: [AS_READ] }, AS_READ])('is none in %#', (body) => {
    expect(readCampaign.read(aResponse(body), { campaignId: 101 })).toBeUndefined();
  });
});

test('the answer to a change is its message, and none without one or with HTTP 206, whatever it says', () => {
  const body = { message: 'Campaign status changed.' };
  expect(changeCampaign.read(aResponse(body), CHANGE)).toEqual(body);
  expect(changeCampaign.read(aResponse(body, 206), CHANGE)).toBeUndefined();
  for (const other of [...NO_OBJECTS, {}, { message: '' }, { message: 200 }]) {
    expect(changeCampaign.read(aResponse(other), CHANGE)).toBeUndefined();
  }
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 53])('a call about a campaign with the id %d is refused', (campaignId) => {
  const refusal = expect.objectContaining({ code: 'bad-input' });
  expect(() => readCampaign.request(someAddresses(), { campaignId })).toThrow(refusal);
  expect(() => changeCampaign.request(someAddresses(), { ...CHANGE, campaignId })).toThrow(refusal);
});

describe('a change', () => {
  // The twelve numbers, their state and meaning; what a change to RUNNING, PAUSED, PURGED, STOPPED comes to.
  test.each([
    [0, 'NEW', /not started or scheduled/, 'change', 'refused', 'refused', 'refused'],
    [1, 'RUNNING', /started manually/, 'none', 'change', 'refused', 'change'],
    [2, 'SCHEDULED', /start time not yet reached/, 'refused', 'change', 'refused', 'change'],
    [3, 'RUNNING', /runs at once/, 'none', 'change', 'refused', 'change'],
    [4, 'RUNNING', /scheduled start time reached/, 'none', 'change', 'refused', 'change'],
    [5, 'STOPPED', /stopped manually/, 'refused', 'refused', 'refused', 'none'],
    [6, 'STOPPED', /all records completed/, 'refused', 'refused', 'refused', 'none'],
    [7, 'STOPPED', /scheduled stop time/, 'refused', 'refused', 'refused', 'none'],
    [8, 'PAUSED', /queued records continue/, 'change', 'none', 'change', 'change'],
    [9, 'PAUSED', /schedule paused/, 'change', 'none', 'change', 'change'],
    [10, 'PURGED', /flushed/, 'change', 'refused', 'none', 'change'],
    [11, 'PURGED', /schedule purged/, 'change', 'refused', 'none', 'change'],
  ] as const)('of status %i, which is %s (%s)', (status, state, meaning, ...kinds) => {
    const campaign = aCampaign({ status });
    expect(campaign).toMatchObject({ state, meaning: expect.stringMatching(meaning) });
    const targets = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const;
    expect(targets.map((target) => planChange(campaign, target).kind)).toEqual(kinds);
  });

  test.each([
    ['PAUSED', { 'dynamic-campaign': 'N' }, 'campaign 101 is not a dynamic campaign'],
    ['PAUSED', { enabled: 'N' }, 'campaign 101 is not enabled'],
    ['PAUSED', { status: 6 }, 'stopped (completed: all records completed, stopped) and cannot be restarted'],
    ['RUNNING', { status: 2 }, 'campaign 101 is scheduled and begins at its time: RUNNING is allowed from NEW, PAUSED'],
    ['PAUSED', { status: 0 }, 'campaign 101 is NEW (new'],
  ] as const)('to %s that is impossible for %j says why: %s', (target, fields, reason) => {
    const refused = { kind: 'refused', reason: expect.stringContaining(reason) };
    expect(planChange(aCampaign(fields), target)).toEqual(refused);
  });

  test('is left to the service where the answer did not say whether the campaign is dynamic and enabled', () => {
    expect(planChange(aCampaign({ 'dynamic-campaign': '', enabled: undefined }), 'PAUSED')).toEqual({ kind: 'change' });
  });

  test('to where the campaign is already is none, also where it could not be made', () => {
    expect(planChange(aCampaign({ 'dynamic-campaign': 'N', enabled: 'N' }), 'RUNNING')).toEqual({ kind: 'none' });
  });
});
