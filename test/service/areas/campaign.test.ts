import { describe, expect, test } from 'vitest';
import {
  CAMPAIGN_FIELDS,
  changeCampaign,
  readCampaign,
  readCampaignBody,
} from '../../../src/service/areas/campaign.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

/** Every member that the contract lists. */
const AS_READ = {
  'campaign-name': 'spring',
  'campaign-id': 101,
  enabled: 'Y',
  status: 3,
  'no-of-records': 1200,
  'caller-id': 6560000000,
  'queue-id': 201,
  'start-time': '',
  'end-time': '',
  'actual-stop-time': '',
  'daily-start-time': '',
  'daily-end-time': '',
  'actual-run-time': '2026-01-05T09:00:00+00:00',
  'retry-interval': 300,
  'max-retry': 3,
  'abandon-max-retry': '',
  'max-ring-time': 30,
  'integration-type': 'Local CRM',
  'calling-window': 0,
  'schedule-name': 'always',
  timezone: 'UTC',
  'dynamic-campaign': 'N',
  sequential: 'N',
};
const CHANGE = { campaignId: 101, target: 'PAUSED' } as const;

const readAnswer = (campaign: unknown) => readCampaign.read(aResponse({ campaign }), { campaignId: 101 });

describe('a campaign', () => {
  test('is read with all that the contract lists: what Volley uses by name, and all as it stands', () => {
    expect(readAnswer(AS_READ)).toEqual({
      id: 101,
      name: 'spring',
      status: 3,
      state: 'RUNNING',
      meaning: expect.stringContaining('manual running'),
      isEnabled: true,
      isDynamic: false,
      recordCount: 1200,
      fields: AS_READ,
    });
    expect(Object.keys(AS_READ)).toEqual(CAMPAIGN_FIELDS);
  });

  test('is read from numbers that are written as text', () => {
    const written = { ...AS_READ, 'campaign-id': '101', status: '8', 'no-of-records': '5' };
    expect(readAnswer(written)).toMatchObject({ id: 101, status: 8, recordCount: 5 });
  });

  test('is undefined about what the answer does not say', () => {
    expect(readAnswer({ 'campaign-id': 101, status: 0, enabled: 'yes' })).toEqual({
      id: 101,
      name: '',
      status: 0,
      state: 'NEW',
      meaning: expect.any(String),
      isEnabled: undefined,
      isDynamic: undefined,
      recordCount: undefined,
      fields: { 'campaign-id': 101, status: 0, enabled: 'yes' },
    });
  });

  test.each([undefined, null, '', 'RUNNING', true, 3.5, -1, 12, {}])(
    'is none with the status %j, which the contract does not list',
    (status) => {
      expect(readAnswer({ ...AS_READ, status })).toBeUndefined();
    },
  );

  test.each([102, '102', undefined, null, '', 101.5, {}])(
    'is none with the id %j instead of the one asked for',
    (id) => {
      expect(readAnswer({ ...AS_READ, 'campaign-id': id })).toBeUndefined();
    },
  );

  test.each([...NO_OBJECTS, {}, { campaign: null }, { campaign: [AS_READ] }, AS_READ])('is none in %#', (body) => {
    expect(readCampaignBody(body)).toBeUndefined();
    expect(readCampaign.read(aResponse(body), { campaignId: 101 })).toBeUndefined();
  });
});

describe('the answer to a change', () => {
  test('gives its message', () => {
    const message = 'Campaign status changed.';
    expect(changeCampaign.read(aResponse({ message }), CHANGE)).toEqual({ message });
  });

  test('of HTTP 206 is no success, whatever it says', () => {
    expect(changeCampaign.read(aResponse({ message: 'Campaign status changed.' }, 206), CHANGE)).toBeUndefined();
  });

  test.each([...NO_OBJECTS, {}, { message: '' }, { message: 200 }])('is none without a message: %j', (body) => {
    expect(changeCampaign.read(aResponse(body), CHANGE)).toBeUndefined();
  });
});

describe('a call about a campaign', () => {
  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('with the id %d is refused', (campaignId) => {
    const refusal = expect.objectContaining({ code: 'bad-input' });
    expect(() => readCampaign.request(someAddresses(), { campaignId })).toThrow(refusal);
    expect(() => changeCampaign.request(someAddresses(), { ...CHANGE, campaignId })).toThrow(refusal);
  });
});
