import { expect, test } from 'vitest';
import { aBatch, aClient, aContact, aMessage, BATCH_PATH, bearer } from './sandbox-client.js';

test('sandbox lets an added account in with its own key and subaccounts', async () => {
  const client = await aClient({
    accounts: [{ account: 'other', apiKey: 'the-other-key', subAccountIds: ['other_hq', 'other_&.-promo'] }],
  });
  const authorization = bearer('the-other-key');
  const path = BATCH_PATH.replace('acme_hq', encodeURIComponent('other_&.-promo'));
  expect((await client.ask(aBatch(1), { authorization, path })).status).toBe(200);
  expect((await client.ask(aContact(), { authorization, path: '/accounts/other/contacts' })).status).toBe(201);
  expect(await client.sms()).toMatchObject([{ subAccountId: 'other_&.-promo' }]);
});

test('sandbox lets an added account without a key in with the test key, beside acme', async () => {
  const client = await aClient({ accounts: [{ account: 'other' }] });
  expect((await client.ask(aBatch(1))).status).toBe(200);
  expect((await client.ask(aBatch(1), { path: BATCH_PATH.replace('acme_hq', 'other_hq') })).status).toBe(200);
});

test('sandbox looks at the key before the body', async () => {
  const client = await aClient();
  const { status } = await client.ask({ messages: [aMessage(1, { encoding: 'X' })] }, { authorization: undefined });
  expect(status).toBe(401);
});
