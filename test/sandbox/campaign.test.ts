import { expect, test } from 'vitest';
import { changeCampaign, putCampaign, readCampaign, statusOf } from './campaign-and-chat.js';
import { aClient, aClock, at } from './sandbox-client.js';

test('a sandbox begins with a campaign for each thing that can be tried', async () => {
  const client = await aClient();
  const listed = await client.ask(undefined, { method: 'GET', path: '/_sandbox/campaigns', authorization: undefined });
  const brief = (campaign: Record<string, unknown>) =>
    ['campaign-id', 'campaign-name', 'status', 'enabled', 'dynamic-campaign'].map((field) => campaign[field]);
  expect(listed.body.map(brief)).toEqual([
    [101, 'running', 3, 'Y', 'Y'],
    [102, 'paused', 8, 'Y', 'Y'],
    [103, 'new', 0, 'Y', 'Y'],
    [104, 'stopped', 5, 'Y', 'Y'],
    [105, 'purged', 10, 'Y', 'Y'],
    [106, 'not dynamic', 3, 'Y', 'N'],
    [107, 'not enabled', 3, 'N', 'Y'],
  ]);
});

test('the ledger has each accepted change with the campaign as it stands from then on', async () => {
  const client = await aClient({ clock: aClock() });
  await changeCampaign(client, 101, 'PAUSED');
  await changeCampaign(client, 101, 'PAUSED');
  await changeCampaign(client, 101, 'STOPPED');
  const { campaign } = (await readCampaign(client, 101)).body;
  expect(campaign['actual-stop-time']).toBe(at(0).replace('Z', '+00:00'));
  const head = { at: at(0), area: 'campaign', campaignId: 101 };
  expect(await client.entries('campaign')).toEqual([
    {
      ...head,
      seq: 1,
      request: 1,
      requested: 'PAUSED',
      from: 3,
      status: 8,
      campaign: { ...campaign, status: 8, 'actual-stop-time': '' },
    },
    { ...head, seq: 2, request: 3, requested: 'STOPPED', from: 8, status: 5, campaign },
  ]);
});

test('of many equal changes at once one is accepted', async () => {
  const client = await aClient();
  const answers = await Promise.all(Array.from({ length: 20 }, () => changeCampaign(client, 101, 'PAUSED')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await client.entries('campaign')).toHaveLength(1);
});

test('PUT /_sandbox/campaigns/{id} sets fields of a campaign, also against its states, or makes it: new, enabled, dynamic', async () => {
  const client = await aClient();
  const before = (await readCampaign(client, 104)).body.campaign;
  const { status, body } = await putCampaign(client, 104, { status: 3, enabled: 'N' });
  expect([status, body]).toEqual([200, { ...before, status: 3, enabled: 'N' }]);
  expect((await readCampaign(client, 104)).body.campaign).toEqual(body);
  const made = (await putCampaign(client, 500, {})).body;
  expect(made).toMatchObject({ 'campaign-id': 500, status: 0, enabled: 'Y', 'dynamic-campaign': 'Y' });
  expect((await changeCampaign(client, 500, 'RUNNING')).status).toBe(200);
  expect(await client.entries('campaign')).toMatchObject([
    { request: 0, requested: null, campaignId: 104, from: 5, status: 3, campaign: body },
    { request: 0, requested: null, campaignId: 500, from: null },
    { requested: 'RUNNING', from: 0, status: 3 },
  ]);
});

test.each([
  ['an unknown field', 101, { state: 3 }, /state/],
  ['another id in the body', 101, { 'campaign-id': 5 }, /campaign-id/],
  ['status 12', 101, { status: 12 }, /^Cannot set campaign: .*status/s],
  ['status -1', 101, { status: -1 }, /status/],
  ['status by name', 101, { status: 'PAUSED' }, /status/],
  ['enabled that is neither Y nor N', 101, { enabled: true }, /enabled/],
  ['a run time without offset', 101, { 'actual-run-time': '2026-01-05T09:00:00' }, /actual-run-time/],
  ['broken JSON', 101, '{', /object/],
  ['a list', 101, [], /object/],
])('PUT /_sandbox/campaigns/{id} refuses %s with 400 and says why', async (_, id, fields, message) => {
  const client = await aClient();
  const answer = await putCampaign(client, id, fields);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(message);
  expect(await client.entries('campaign')).toEqual([]);
});

test.each([
  ['before', { kind: 'status-206' }, 3],
  ['after', { kind: 'status-after', status: 206 }, 8],
] as const)('a fault with 206 answers %s the change that the response timed out', async (_, fault, expected) => {
  const client = await aClient({}, { ...fault, area: 'campaign', nth: 1 });
  const body = { message: 'The request was sent but the response timed out.' };
  expect(await changeCampaign(client, 101, 'PAUSED')).toMatchObject({ status: 206, body });
  expect(await statusOf(client, 101)).toBe(expected);
  expect(await client.entries('campaign')).toHaveLength(expected === 8 ? 1 : 0);
});
