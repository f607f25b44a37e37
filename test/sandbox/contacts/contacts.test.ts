import { expect, test } from 'vitest';
import { aClient, aClock, aContact, at, CONTACTS_PATH } from '../sandbox-client.js';

test('contact is created: 201, its Location, a numeric id, and what was given', async () => {
  const client = await aClient({ clock: aClock() });
  const given = {
    firstName: 'Ann',
    lastName: 'Lee',
    externalId: 'c-1',
    country: 'SG',
    groups: [{ id: 1042 }],
    addresses: { msisdn: '+6590000001', email: 'ann@shop.example' },
    customAttributes: { tier: 'gold' },
    shoeSize: 38,
  };
  const { status, headers, body } = await client.createContact(given);
  expect(status).toBe(201);
  expect(Number.isSafeInteger(body.id)).toBe(true);
  expect(headers.location).toBe(`${CONTACTS_PATH}/${body.id}`);
  expect(body).toEqual({
    id: body.id,
    createdAt: at(0),
    firstName: 'Ann',
    lastName: 'Lee',
    externalId: 'c-1',
    country: 'SG',
    groups: [{ id: 1042, createdAt: at(0), name: 'group 1042', isBlacklist: false }],
    addresses: { msisdn: '6590000001', email: 'ann@shop.example' },
    customAttributes: { tier: 'gold' },
  });
  expect(await client.contacts()).toEqual([
    {
      seq: 1,
      at: at(0),
      area: 'contacts',
      request: 1,
      account: 'acme',
      contactId: body.id,
      outcome: 'created',
      externalId: 'c-1',
      contact: { ...body, groups: [1042] },
    },
  ]);
});

test('contact with an address of another is merged into it: 200, same id, new values over old', async () => {
  const client = await aClient();
  const first = await client.createContact(
    aContact({ lastName: 'Lee', groups: [{ id: 1 }], customAttributes: { a: '1', b: '1' } }),
  );
  const second = await client.createContact({
    firstName: 'Anna',
    groups: [{ id: 1 }, { id: 2 }],
    addresses: { msisdn: '6590000001', lineId: 'line-1' },
    customAttributes: { b: '2' },
  });
  expect(second.status).toBe(200);
  expect(second.headers.location).toBeUndefined();
  expect(second.body).toMatchObject({
    id: first.body.id,
    firstName: 'Anna',
    lastName: 'Lee',
    groups: [{ id: 1 }, { id: 2 }],
    addresses: { msisdn: '6590000001', lineId: 'line-1' },
    customAttributes: { a: '1', b: '2' },
  });
  expect((await client.contacts()).map(({ contactId, outcome }) => [contactId, outcome])).toEqual([
    [first.body.id, 'created'],
    [first.body.id, 'merged'],
  ]);
});

test('contact is found by e-mail in any case, and gives up the number that a merge replaced', async () => {
  const client = await aClient();
  const email = 'Ann@Shop.example';
  const first = await client.createContact({ addresses: { msisdn: '+6590000001', email } });
  const moved = await client.createContact({ addresses: { msisdn: '+6590000002', email: email.toLowerCase() } });
  expect([moved.status, moved.body.id]).toEqual([200, first.body.id]);
  expect((await client.createContact({ addresses: { msisdn: '+6590000001' } })).status).toBe(201);
});

test('contact is created once when it comes many times at once', async () => {
  const client = await aClient();
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.createContact(aContact())));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
});

test("contacts of one account are not another's", async () => {
  const client = await aClient({ accounts: [{ account: 'other' }] });
  await client.createContact(aContact());
  expect((await client.ask(aContact(), { path: '/accounts/other/contacts' })).status).toBe(201);
});
