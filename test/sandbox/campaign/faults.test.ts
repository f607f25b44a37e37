import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { changeCampaign, entries, readCampaign, statusOf } from './campaign-client.js';

const TIMED_OUT = { message: 'The request was sent but the response timed out.' };

test('fault status-206 answers that the response timed out, and the change was not made', async () => {
  const client = await aClient({}, { kind: 'status-206', area: 'campaign', nth: 1 });
  expect(await changeCampaign(client, 101, 'PAUSED')).toMatchObject({ status: 206, body: TIMED_OUT });
  expect(await statusOf(client, 101)).toBe(3);
  expect(await entries(client)).toEqual([]);
});

test('fault status-after with 206 answers the same, and the change was made', async () => {
  const client = await aClient({}, { kind: 'status-after', status: 206, area: 'campaign', nth: 1 });
  expect(await changeCampaign(client, 101, 'PAUSED')).toMatchObject({ status: 206, body: TIMED_OUT });
  expect(await statusOf(client, 101)).toBe(8);
  expect(await entries(client)).toMatchObject([{ requested: 'PAUSED', status: 8 }]);
});

test('fault status-206 on another area has no body', async () => {
  const client = await aClient({}, { kind: 'status-206' });
  expect(await client.ask({}, { path: '/api/v2/subaccounts/acme_hq/sessions' })).toMatchObject({
    status: 206,
    text: '',
  });
});

test('fault partial leaves id and status out of a read, and the message out of a change', async () => {
  const client = await aClient({}, { kind: 'partial' });
  const { campaign } = (await readCampaign(client, 101)).body;
  expect(campaign).toMatchObject({ 'campaign-name': 'running' });
  expect(campaign).not.toHaveProperty('status');
  expect(campaign).not.toHaveProperty('campaign-id');
  expect((await changeCampaign(client, 101, 'PAUSED')).body).toEqual({});
});

test('fault foreign reads a campaign that no one asked for, in another status', async () => {
  const client = await aClient({}, { kind: 'foreign' });
  for (const id of [101, 103]) {
    const { campaign } = (await readCampaign(client, id)).body;
    expect(campaign['campaign-id']).not.toBe(id);
    expect(campaign.status).not.toBe(id === 101 ? 3 : 0);
  }
});
