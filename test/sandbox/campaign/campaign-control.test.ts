import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { changeCampaign, entries, putCampaign, readCampaign } from './campaign-client.js';

test('PUT /_sandbox/campaigns/{id} sets fields of a campaign, also against its states, and leaves the others', async () => {
  const client = await aClient();
  const before = (await readCampaign(client, 104)).body.campaign;
  const { status, body } = await putCampaign(client, 104, { status: 3, enabled: 'N' });
  expect([status, body]).toEqual([200, { ...before, status: 3, enabled: 'N' }]);
  expect((await readCampaign(client, 104)).body.campaign).toEqual(body);
  expect(await entries(client)).toMatchObject([
    { request: 0, requested: null, campaignId: 104, from: 5, status: 3, campaign: body },
  ]);
});

test('PUT /_sandbox/campaigns/{id} makes a campaign that is not there: new, enabled, dynamic', async () => {
  const client = await aClient();
  const { body } = await putCampaign(client, 500, {});
  expect(body).toMatchObject({ 'campaign-id': 500, status: 0, enabled: 'Y', 'dynamic-campaign': 'Y' });
  expect((await changeCampaign(client, 500, 'RUNNING')).status).toBe(200);
  expect(await entries(client)).toMatchObject([{ from: null }, { requested: 'RUNNING', from: 0, status: 3 }]);
});

test.each([
  ['an unknown field', 101, { state: 3 }, /state/],
  ['another id in the body', 101, { 'campaign-id': 5 }, /campaign-id/],
  ['status 12', 101, { status: 12 }, /^Cannot set campaign: status: /],
  ['status -1', 101, { status: -1 }, /status/],
  ['status by name', 101, { status: 'PAUSED' }, /status/],
  ['enabled that is neither Y nor N', 101, { enabled: true }, /enabled/],
  ['a run time without offset', 101, { 'actual-run-time': '2026-01-05T09:00:00' }, /actual-run-time/],
  ['broken JSON', 101, '{', /the body/],
  ['a list', 101, [], /the body/],
  ['an id that is no number', 'abc', {}, /its id is not a number/],
])('PUT /_sandbox/campaigns/{id} refuses %s with 400 and says why', async (_, id, fields, message) => {
  const client = await aClient();
  const answer = await putCampaign(client, id, fields);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(message);
  expect(await entries(client)).toEqual([]);
});
