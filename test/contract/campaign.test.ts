import { expect, test } from 'vitest';
import { buildCampaignBase, findPlatformFault } from '../../src/job/schema/service.js';
import { basic, changeCampaign, putCampaign, readCampaign, statusOf } from '../sandbox/campaign-and-chat.js';
import { aClient } from '../sandbox/sandbox-client.js';
import { expectAccepted, expectRefused } from './contract-fields.js';

const RUNNING_ID = 101;

/** Each field of the contract: its value in campaign 101 from the start, and another that it can have. */
const FIELDS = [
  ['campaign-name', 'running', 'spring sale'],
  ['campaign-id', 101, 101],
  ['enabled', 'Y', 'N'],
  ['status', 3, 9],
  ['no-of-records', 1200, 0],
  ['caller-id', 6560000000, 6560000001],
  ['queue-id', 201, 202],
  ['start-time', '', '2026-11-21T09:00:00+08:00'],
  ['end-time', '', '2026-11-21T18:00:00+08:00'],
  ['actual-stop-time', '', '2026-11-21T17:59:00+08:00'],
  ['daily-start-time', '', '09:00'],
  ['daily-end-time', '', '18:00'],
  ['actual-run-time', '2026-01-05T09:00:00+00:00', '2026-11-21T09:00:00-05:00'],
  ['retry-interval', 300, 60],
  ['max-retry', 3, 0],
  ['abandon-max-retry', '', '5'],
  ['max-ring-time', 30, 45],
  ['integration-type', 'Local CRM', 'other CRM'],
  ['calling-window', 0, 2],
  ['schedule-name', 'always', 'office hours'],
  ['timezone', 'UTC', 'Asia/Singapore'],
  ['dynamic-campaign', 'Y', 'N'],
  ['sequential', 'N', 'Y'],
] as const;

test('Resources, Campaign: the body is an object with the one member campaign, which has these fields and no other', async () => {
  const client = await aClient();
  const [first, other] = ([1, 2] as const).map((at) => Object.fromEntries(FIELDS.map((row) => [row[0], row[at]])));
  expect((await readCampaign(client, RUNNING_ID)).body).toEqual({ campaign: first });
  const { 'campaign-id': _id, ...changes } = other!;
  await putCampaign(client, RUNNING_ID, changes);
  expect((await readCampaign(client, RUNNING_ID)).body).toEqual({ campaign: other });
});

const ALREADY_STOPPED = 'Campaign is already stopped or completed. No operation is allowed.';
const NOT_ALLOWED = 'Invalid state transition.';

/** The contract's number and meaning; then the number that follows each request, or the text that refuses it. */
const STATES = [
  // number, meaning, RUNNING, PAUSED, PURGED, STOPPED
  [0, 'New', 3, NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED],
  [1, 'Manual Started', NOT_ALLOWED, 8, NOT_ALLOWED, 5],
  [2, 'Scheduled', NOT_ALLOWED, 8, NOT_ALLOWED, 5],
  [3, 'Manual Running', NOT_ALLOWED, 8, NOT_ALLOWED, 5],
  [4, 'Schedule Running', NOT_ALLOWED, 8, NOT_ALLOWED, 5],
  [5, 'Manual Stopped', ALREADY_STOPPED, ALREADY_STOPPED, ALREADY_STOPPED, ALREADY_STOPPED],
  [6, 'Completed (Stopped)', ALREADY_STOPPED, ALREADY_STOPPED, ALREADY_STOPPED, ALREADY_STOPPED],
  [7, 'Schedule Stopped', ALREADY_STOPPED, ALREADY_STOPPED, ALREADY_STOPPED, ALREADY_STOPPED],
  [8, 'Manual Paused', 3, NOT_ALLOWED, 10, 5],
  [9, 'Schedule Paused', 3, NOT_ALLOWED, 10, 5],
  [10, 'Manual Purged', 3, NOT_ALLOWED, NOT_ALLOWED, 5],
  [11, 'Schedule Purged', 3, NOT_ALLOWED, NOT_ALLOWED, 5],
] as const;

const REQUESTS = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'];

// Contract: the numbers, and that 5 to 7 are final. The other changes are an open point.
test.each(STATES)('States, Campaign: %i, %s → %s, %s, %s, %s', async (from, _, ...results) => {
  const client = await aClient();
  for (const [place, next] of results.entries()) {
    await putCampaign(client, RUNNING_ID, { status: from });
    const { status, body } = await changeCampaign(client, RUNNING_ID, REQUESTS[place]);
    const isAllowed = typeof next === 'number';
    expect([status, body]).toEqual(
      isAllowed ? [200, { message: 'Campaign status changed.' }] : [400, { message: next }],
    );
    expect(await statusOf(client, RUNNING_ID)).toBe(isAllowed ? next : from);
  }
});

const DATA = 'dataToken';
const ACTION = 'actionToken';
const PAUSE = { status: 'PAUSED' };

test.each([
  ['6', 'is a GET of stats with .json', 'GET', '/api/stats/campaigns/101.json', DATA, true],
  ['6', 'is no GET of stats without .json', 'GET', '/api/stats/campaigns/101', DATA, false],
  ['6', 'is no GET of tstats', 'GET', '/api/tstats/campaigns/101', DATA, false],
  ['6', 'is no GET of tstats with .json', 'GET', '/api/tstats/campaigns/101.json', DATA, false],
  ['6', 'is no POST', 'POST', '/api/stats/campaigns/101.json', DATA, false],
  ['7', 'is a POST of tstats without .json', 'POST', '/api/tstats/campaigns/101', ACTION, true],
  ['7', 'is no POST of tstats with .json', 'POST', '/api/tstats/campaigns/101.json', ACTION, false],
  ['7', 'is no POST of stats', 'POST', '/api/stats/campaigns/101', ACTION, false],
  ['7', 'is no POST of stats with .json', 'POST', '/api/stats/campaigns/101.json', ACTION, false],
  ['7', 'is no PUT', 'PUT', '/api/tstats/campaigns/101', ACTION, false],
  ['7', 'is no GET', 'GET', '/api/tstats/campaigns/101', ACTION, false],
] as const)('Endpoints, %s: it %s', async (_, __, method, path, token, isRight) => {
  const client = await aClient();
  const call = () =>
    client.ask(method === 'GET' ? undefined : PAUSE, { method, path, authorization: basic(client, token) });
  if (isRight) expectAccepted(await call());
  else await expectRefused(client, call);
});

test.each(['abc', '101.5', '-101', '%20', '1e2', '999'])(
  'Endpoints, 6 and 7: campaignId is an integer that names a campaign, not %s',
  async (id) => {
    const client = await aClient();
    await expectRefused(client, () => readCampaign(client, id));
    await expectRefused(client, () => changeCampaign(client, id, 'PAUSED'));
  },
);

test.each([
  ['NA12', 'https://vcc-na12.8x8.com'],
  ['EU5', 'https://vcc-eu5.8x8.com'],
  ['CA1', 'https://vcc-ca1.8x8.com'],
  ['AP1', 'https://vcc-ap1.8x8.com'],
  ['AU1', 'https://vcc-au1.8x8.com'],
  ['SB1', 'https://vcc-sb1.8x8.com'],
  // Bell Canada's.
  ['BC1', undefined],
])('Endpoints, 6 and 7: ccPlatform %s forms the address %s', (platform, address) => {
  expect([findPlatformFault(platform), buildCampaignBase(platform)]).toEqual([undefined, address]);
});

test.each(['US12', '12', '', 'XNA12', 'NA.evil.example', 'na1/', 'na 1', 'na-', 'na1\n', `na${'1'.repeat(30)}`])(
  'Endpoints, 6 and 7: ccPlatform %j is none',
  (platform) => expect(findPlatformFault(platform)).toMatch(/^expected /),
);

test.each(['running', 'Paused', 'STARTED', '', 8, true, null, {}, undefined])(
  'Endpoints, 7: status may not be %j',
  async (requested) => {
    const client = await aClient();
    await expectRefused(client, () => changeCampaign(client, RUNNING_ID, requested));
    expect(await statusOf(client, RUNNING_ID)).toBe(3);
  },
);

test.each([
  [400, 'Campaign is not enabled.', 107, 'PAUSED'],
  [400, 'Not a dynamic campaign.', 106, 'PAUSED'],
  [404, 'Campaign not found.', 999, 'PAUSED'],
])('Open point, Errors, Campaign: %i with the message "%s"', async (status, message, id, requested) => {
  const client = await aClient();
  const answer = await changeCampaign(client, id, requested);
  expect([answer.status, answer.body]).toEqual([status, { message }]);
});

test('Limits, Campaign: none is shown, and 50 reads at once are answered', async () => {
  const client = await aClient();
  const answers = await Promise.all(Array.from({ length: 50 }, () => readCampaign(client, RUNNING_ID)));
  for (const answer of answers) expectAccepted(answer);
});

test.each(['/api/v1/stats/campaigns/101.json', '/api/v2/stats/campaigns/101.json', '/v1/api/stats/campaigns/101.json'])(
  'Versioning, Campaign: the path carries no version, so %s is none',
  async (path) => {
    const client = await aClient();
    await expectRefused(client, () =>
      client.ask(undefined, { method: 'GET', path, authorization: basic(client, DATA) }),
    );
  },
);
