import { expect, test } from 'vitest';
import { aClient, aContact } from '../sandbox-client.js';

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
