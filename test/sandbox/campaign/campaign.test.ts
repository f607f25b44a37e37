import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { basic, changeCampaign, entries, putCampaign, readCampaign, statusOf } from './campaign-client.js';

/** The contract's table of fields: their types. */
const TYPES = {
  'campaign-name': 'string',
  'campaign-id': 'number',
  enabled: 'string',
  status: 'number',
  'no-of-records': 'number',
  'caller-id': 'number',
  'queue-id': 'number',
  'start-time': 'string',
  'end-time': 'string',
  'actual-stop-time': 'string',
  'daily-start-time': 'string',
  'daily-end-time': 'string',
  'actual-run-time': 'string',
  'retry-interval': 'number',
  'max-retry': 'number',
  'abandon-max-retry': 'string',
  'max-ring-time': 'number',
  'integration-type': 'string',
  'calling-window': 'number',
  'schedule-name': 'string',
  timezone: 'string',
  'dynamic-campaign': 'string',
  sequential: 'string',
};
const SEEDED = [101, 102, 103, 104, 105, 106, 107];

test.each(SEEDED)(
  '§Campaign: campaign %i is read with every field of the contract, in its type, and no other',
  async (id) => {
    const client = await aClient();
    const { status, body } = await readCampaign(client, id);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['campaign']);
    expect(Object.fromEntries(Object.entries(body.campaign).map(([field, value]) => [field, typeof value]))).toEqual(
      TYPES,
    );
    expect(body.campaign['campaign-id']).toBe(id);
    expect(body.campaign['actual-run-time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    for (const flag of ['enabled', 'dynamic-campaign', 'sequential']) expect(body.campaign[flag]).toMatch(/^[YN]$/);
  },
);

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

test.each([
  [106, 'Not a dynamic campaign.'],
  [107, 'Campaign is not enabled.'],
])('campaign %i can be read and is not changed: %s', async (id, message) => {
  const client = await aClient();
  const { status, body } = await changeCampaign(client, id, 'PAUSED');
  expect([status, body]).toEqual([400, { message }]);
  expect(await statusOf(client, id)).toBe(3);
  expect(await entries(client)).toEqual([]);
});

test.each([999, 'abc', '0', '101.5', '9'.repeat(30), '101%2F'])('campaign %s is not there: 404', async (id) => {
  const client = await aClient();
  const answers = [await readCampaign(client, id), await changeCampaign(client, id, 'PAUSED')];
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    Array(2).fill([404, { message: 'Campaign not found.' }]),
  );
});

test.each(['STARTED', 'paused', '', null, 8, undefined])('status %s is none: 400, nothing changes', async (status) => {
  const client = await aClient();
  expect(await changeCampaign(client, 101, status)).toMatchObject({
    status: 400,
    body: { message: 'Invalid status.' },
  });
  expect(await statusOf(client, 101)).toBe(3);
});

test('a change without a JSON body is 400 with a message', async () => {
  const client = await aClient();
  const authorization = basic(client, 'actionToken');
  const path = '/api/tstats/campaigns/101';
  for (const body of [undefined, '{', '[]', '"PAUSED"']) {
    const answer = await client.ask(body, { path, authorization });
    expect([answer.status, typeof answer.body.message]).toEqual([400, 'string']);
  }
  expect(await statusOf(client, 101)).toBe(3);
});

test('§Endpoints 6 and 7: stats is read only with .json, tstats is changed only without', async () => {
  const client = await aClient();
  const ask = async (method: 'GET' | 'POST', path: string) => {
    const authorization = basic(client, method === 'GET' ? 'dataToken' : 'actionToken');
    const body = method === 'GET' ? undefined : { status: 'PAUSED' };
    return (await client.ask(body, { method, path, authorization })).status;
  };
  expect(await ask('GET', '/api/stats/campaigns/101')).toBe(404);
  expect(await ask('GET', '/api/tstats/campaigns/101')).toBe(404);
  expect(await ask('GET', '/api/tstats/campaigns/101.json')).toBe(404);
  expect(await ask('POST', '/api/stats/campaigns/101')).toBe(404);
  expect(await ask('POST', '/api/stats/campaigns/101.json')).toBe(404);
  expect(await ask('POST', '/api/tstats/campaigns/101.json')).toBe(404);
  expect(await statusOf(client, 101)).toBe(3);
  expect(await ask('GET', '/api/stats/campaigns/101.json')).toBe(200);
  expect(await ask('POST', '/api/tstats/campaigns/101')).toBe(200);
});

test('§Authentication: a read needs the data token and a change the action token; nothing else will do', async () => {
  const client = await aClient();
  const { username, dataToken, actionToken } = client.sandbox.credentials.campaign;
  const encode = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const none = [undefined, 'Basic', 'Basic !', encode(username), encode(`other:${dataToken}`), `Bearer ${dataToken}`];
  for (const authorization of [...none, encode(`${username}:${actionToken}`), encode(`${username}:${dataToken}x`)]) {
    const answer = await client.ask(undefined, {
      method: 'GET',
      path: '/api/stats/campaigns/101.json',
      authorization,
    });
    expect([answer.status, answer.body]).toEqual([401, { message: 'Not authorized.' }]);
  }
  for (const authorization of [...none, encode(`${username}:${dataToken}`), encode(`other:${actionToken}`)]) {
    const answer = await client.ask({ status: 'PAUSED' }, { path: '/api/tstats/campaigns/101', authorization });
    expect([answer.status, answer.body]).toEqual([401, { message: 'Not authorized.' }]);
  }
  expect(await entries(client)).toEqual([]);
});

test('the ledger has each accepted change with the campaign as it stands from then on', async () => {
  const client = await aClient({ clock: aClock() });
  await changeCampaign(client, 101, 'PAUSED');
  await changeCampaign(client, 101, 'PAUSED');
  await changeCampaign(client, 101, 'STOPPED');
  const { campaign } = (await readCampaign(client, 101)).body;
  expect(campaign['actual-stop-time']).toBe(at(0).replace('Z', '+00:00'));
  const head = { at: at(0), area: 'campaign', campaignId: 101 };
  expect(await entries(client)).toEqual([
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

test('a new campaign that is started says when', async () => {
  const client = await aClient({ clock: aClock() });
  await changeCampaign(client, 103, 'RUNNING');
  expect((await readCampaign(client, 103)).body.campaign).toMatchObject({
    status: 3,
    'actual-run-time': at(0).replace('Z', '+00:00'),
  });
});

test('of many equal changes at once one is accepted', async () => {
  const client = await aClient();
  const answers = await Promise.all(Array.from({ length: 20 }, () => changeCampaign(client, 101, 'PAUSED')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await entries(client)).toHaveLength(1);
});

test('changes, and campaigns that were put there, outlive a restart with a data directory', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'volley-sandbox-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const first = await aClient({ dataDirectory });
  await changeCampaign(first, 101, 'PAUSED');
  await putCampaign(first, 500, { status: 9, 'campaign-name': 'mine' });
  const before = (await readCampaign(first, 500)).body;
  await first.sandbox.close();
  const second = await aClient({ dataDirectory });
  expect(await statusOf(second, 101)).toBe(8);
  expect(await statusOf(second, 102)).toBe(8);
  expect((await readCampaign(second, 500)).body).toEqual(before);
});

test('DELETE /_sandbox/ledger puts campaigns back to what they were at first', async () => {
  const client = await aClient();
  await changeCampaign(client, 101, 'PAUSED');
  await putCampaign(client, 500, {});
  await client.sandbox.clearLedger();
  expect(await statusOf(client, 101)).toBe(3);
  expect((await readCampaign(client, 500)).status).toBe(404);
});
