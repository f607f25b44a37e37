import { expect, test } from 'vitest';
import { aBatch, aClient, aContact, aMessage, BATCH_PATH, bearer, CONTACTS_PATH } from './sandbox-client.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test.each([
  ['no header', undefined],
  ['an empty key', 'Bearer '],
  ['an unknown key', bearer('who-is-this')],
  ['another scheme', 'Basic c2FuZGJveC10ZXN0LWtleS1ub3QtYS1zZWNyZXQ='],
])('sandbox answers 401 with code 1200 to %s, in both areas', async (_, authorization) => {
  const client = await aClient();
  const answers = [
    await client.ask(aBatch(), { authorization }),
    await client.ask(aContact(), { authorization, path: CONTACTS_PATH }),
    await client.ask(undefined, { authorization, method: 'DELETE', path: `${BATCH_PATH}/some` }),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(401);
    expect(body).toEqual({
      code: 1200,
      message: 'Request was not authenticated properly',
      errorId: expect.stringMatching(UUID),
      timestamp: expect.any(String),
    });
    expect(Date.parse(body.timestamp)).not.toBeNaN();
  }
  expect(await client.ledger()).toEqual([]);
});

test("sandbox answers 403 with code 1201 to a key on another account's subaccount or contacts", async () => {
  const client = await aClient({ accounts: [{ account: 'other', apiKey: 'the-other-key' }] });
  const answers = [
    await client.ask(aBatch(), { authorization: bearer('the-other-key') }),
    await client.ask(aContact(), { authorization: bearer('the-other-key'), path: CONTACTS_PATH }),
    await client.ask(aBatch(), { path: BATCH_PATH.replace('acme_hq', 'other_hq') }),
    await client.ask(aContact(), { path: '/accounts/other/contacts' }),
  ];
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(4).fill([403, 1201]));
  expect(await client.ledger()).toEqual([]);
});

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

test.each(['ab', 'acme hq', `a${'b'.repeat(50)}`, 'acme%2Fhq'])(
  'sandbox answers 400 with code 1001 to a subaccount id that is none: %s',
  async (subAccountId) => {
    const client = await aClient();
    const { status, body } = await client.ask(aBatch(), {
      path: BATCH_PATH.replace('acme_hq', subAccountId.replace(' ', '%20')),
    });
    expect([status, body.code]).toEqual([400, 1001]);
  },
);

test('sandbox looks at the key before the body', async () => {
  const client = await aClient();
  const { status } = await client.ask({ messages: [aMessage(1, { encoding: 'X' })] }, { authorization: undefined });
  expect(status).toBe(401);
});
