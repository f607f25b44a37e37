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
    groups: [{ id: 1042, contacts: 1, createdAt: at(0), name: 'group 1042', isBlacklist: false }],
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

test('contact can be created under /api/v1 too, and is the same contact', async () => {
  const client = await aClient();
  const path = `/api/v1${CONTACTS_PATH}`;
  const created = await client.ask(aContact(), { path });
  expect([created.status, created.headers.location]).toEqual([201, `${path}/${created.body.id}`]);
  expect(await client.createContact(aContact())).toMatchObject({ status: 200, body: { id: created.body.id } });
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
    groups: [
      { id: 1, contacts: 1 },
      { id: 2, contacts: 1 },
    ],
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

test('contact whose addresses belong to several others is refused with 409', async () => {
  const client = await aClient();
  await client.createContact({ addresses: { msisdn: '+6590000001' } });
  await client.createContact({ addresses: { email: 'ann@shop.example' } });
  const { status, body } = await client.createContact({
    addresses: { msisdn: '+6590000001', email: 'ann@shop.example' },
  });
  expect(status).toBe(409);
  expect(body).toEqual({
    code: expect.any(Number),
    message: 'More than one contact was found based on a provided set of addresses',
    errorId: expect.any(String),
    timestamp: expect.any(String),
  });
  expect(await client.contacts()).toHaveLength(2);
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

test('contact groups count their contacts', async () => {
  const client = await aClient();
  await client.createContact({ groups: [{ id: 7 }], addresses: { msisdn: '+6590000001' } });
  const { body } = await client.createContact({ groups: [{ id: 7 }], addresses: { msisdn: '+6590000002' } });
  expect(body.groups).toMatchObject([{ id: 7, contacts: 2 }]);
});

const addresses = (given: unknown) => ({ addresses: given });
const groups = (count: number) => Array.from({ length: count }, (_, id) => ({ id: id + 1 }));
const attributes = (count: number) => Object.fromEntries(groups(count).map(({ id }) => [`a${id}`, 'x']));

test.each([
  ['no addresses', addresses(undefined), 1000],
  ['addresses that are no object', addresses([]), 1000],
  ['empty addresses', addresses({}), 1000],
  ['unknown addresses only', addresses({ pager: '1' }), 1000],
  ['a number that is none', addresses({ msisdn: '0912345678' }), 1002],
  ['a number that is no text', addresses({ msisdn: 6590000001 }), 1002],
  ['a null number', addresses({ msisdn: null }), 1002],
  ['an e-mail address that is none', addresses({ email: 'ann@shop' }), 1000],
  ['an e-mail address of 321', addresses({ email: `${'a'.repeat(309)}@shop.example` }), 1000],
  ['another id of 129', addresses({ weChatUserId: 'w'.repeat(129) }), 1000],
  ['an empty other id', addresses({ facebookUserId: '' }), 1000],
  ['an empty firstName', { firstName: '' }, 1000],
  ['a firstName of 201', { firstName: 'a'.repeat(201) }, 1000],
  ['a lastName of 201', { lastName: 'a'.repeat(201) }, 1000],
  ['a lastName that is no text', { lastName: 5 }, 1000],
  ['an externalId of 51', { externalId: 'a'.repeat(51) }, 1000],
  ['a country of three letters', { country: 'SGP' }, 1009],
  ['a country that is no text', { country: 65 }, 1009],
  ['groups that are no array', { groups: 1042 }, 1000],
  ['empty groups', { groups: [] }, 1000],
  ['11 groups', { groups: groups(11) }, 1000],
  ['a group twice', { groups: [{ id: 1 }, { id: 1 }] }, 1000],
  ['a group id that is no integer', { groups: [{ id: '1042' }] }, 1000],
  ['a group that is no object', { groups: [1042] }, 1000],
  ['51 customAttributes', { customAttributes: attributes(51) }, 1000],
  ['a customAttribute that is no text', { customAttributes: { age: 38 } }, 1000],
  ['customAttributes that are no object', { customAttributes: ['x'] }, 1000],
])('contact is refused with 400 for %s', async (_, more, code) => {
  const client = await aClient();
  const { status, body } = await client.createContact(aContact(more));
  expect([status, body.code]).toEqual([400, code]);
  expect(await client.ledger()).toEqual([]);
});

test('contact takes every field at its limit', async () => {
  const client = await aClient();
  const { status } = await client.createContact({
    firstName: 'a'.repeat(200),
    lastName: 'a'.repeat(200),
    externalId: 'a'.repeat(50),
    country: 'SG',
    groups: groups(10),
    addresses: {
      msisdn: '123456789012345',
      email: `${'a'.repeat(307)}@shop.example`,
      weChatUserId: 'w'.repeat(128),
      facebookUserId: 'f'.repeat(128),
      zaloId: 'z'.repeat(128),
      lineId: 'l'.repeat(128),
      kakaoTalkId: 'k'.repeat(128),
    },
    customAttributes: attributes(50),
  });
  expect(status).toBe(201);
});
