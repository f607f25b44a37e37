import { expect, test } from 'vitest';
import { aClient, aClock, aContact } from '../sandbox/sandbox-client.js';
import { type BearerArea, type BearerEndpoint, type Fields, testBearerArea, testRegions } from './bearer-area.js';
import { ERRORS, FIELDS, NOT_OF_TYPE, OTHER_ADDRESSES, OUTCOMES, SIZES } from './contacts-tables.js';
import { setField } from './contract-fields.js';

const CREATE: BearerEndpoint = {
  title: 'endpoint 4 (create contact)',
  method: 'POST',
  prepare: async (_, id) => `/accounts/${id}/contacts`,
  body: aContact(),
  status: 201,
};

const CONTACTS: BearerArea = {
  title: 'Contacts',
  name: 'contacts',
  endpoints: [CREATE],
  ids: { own: 'acme', foreign: 'other' },
  badNumber: aContact({ addresses: { msisdn: 'nobody' } }),
  others: OTHER_ADDRESSES,
  call: ({ contacts }) => contacts.createContact({ addresses: { msisdn: '+6590000001' } }),
};

testRegions(CONTACTS, 'Open point, ');
testBearerArea(CONTACTS);

/** A contact with this at this place; an address of another kind beside it keeps the rest right. */
function aContactWith(field: string, value: unknown): Fields {
  const addresses = field === 'addresses.msisdn' ? { email: 'a@shop.example' } : { msisdn: '+6590000009' };
  return setField({ addresses }, field, value);
}

/** What a sandbox answers to a contact, and then holds. */
async function aCreated(contact: Fields) {
  const client = await aClient({ clock: aClock() });
  const answer = await client.createContact(contact);
  return { client, ...answer, held: (await client.entries('contacts'))[0]?.contact };
}

test.each(NOT_OF_TYPE)('Resources, Contact (creation request body): %s is not %j', async (field, value) => {
  const { status, held } = await aCreated(aContactWith(field, value));
  expect(status).toBe(400);
  expect(held).toBeUndefined();
});

test('Resources, Contact (creation request body): all fields at once are kept, each as it was given', async () => {
  const contact = FIELDS.reduce<Fields>((fields, [field, , given]) => setField(fields, field, given), {
    addresses: {},
  });
  const { held } = await aCreated(contact);
  const { id: _id, createdAt: _createdAt, ...kept } = held ?? {};
  const expected = FIELDS.reduce<Fields>((fields, [field, , , kept]) => setField(fields, field, kept), {
    addresses: {},
  });
  expect(kept).toEqual(expected);
});

test('Endpoints, endpoint 4: 201 Created with a Location header when it is successful; open point: and the numeric id of the contact', async () => {
  const { client, status, headers, body } = await aCreated(aContact());
  expect([status, headers.location]).toEqual([201, `/accounts/acme/contacts/${body.id}`]);
  expect(Number.isSafeInteger(body.id)).toBe(true);
  expect(await client.entries('contacts')).toMatchObject([{ account: 'acme', contactId: body.id, outcome: 'created' }]);
});

test.each(OUTCOMES)(
  'Open point, Endpoints, endpoint 4: %s',
  async (_, before, contact, { status, hasLocation, contactId }) => {
    const client = await aClient();
    const ids: unknown[] = [];
    for (const known of before) ids.push((await client.createContact(known)).body.id);
    const answer = await client.createContact(contact);
    expect([answer.status, answer.headers.location !== undefined]).toEqual([status, hasLocation]);
    if (contactId !== undefined) expect(ids.indexOf(answer.body.id) + 1).toBe(contactId);
    else expect(answer.body.id).toBeUndefined();
  },
);

test('Open point, Endpoints, endpoint 4: the path with /api/v1 before it is the same', async () => {
  const client = await aClient();
  const { status, body } = await client.ask(aContact(), { path: '/api/v1/accounts/acme/contacts' });
  expect(status).toBe(201);
  expect(await client.createContact(aContact())).toMatchObject({ status: 200, body: { id: body.id } });
});

test.each(ERRORS)('Open point, Errors, 3 Contacts: %i, code %i, when %s', async (status, code, _, fields) => {
  const { held, ...answer } = await aCreated(aContact(fields));
  expect([answer.status, answer.body.code, answer.headers.location]).toEqual([status, code, undefined]);
  expect(held).toBeUndefined();
});

test.each(SIZES)('Open point, Limits, Contacts: %s, %s', async (_, __, within, beyond, code) => {
  expect((await aCreated(aContact(within))).status).toBe(201);
  const { status, body } = await aCreated(aContact(beyond));
  expect([status, body.code]).toEqual([400, code]);
});

test('Open point, Endpoints, endpoint 4: a contact with an address of another is merged into it, new values over old', async () => {
  const { client, body: first } = await aCreated(
    aContact({ lastName: 'Lee', groups: [{ id: 1 }], customAttributes: { a: '1', b: '1' } }),
  );
  const second = await client.createContact({
    firstName: 'Anna',
    groups: [{ id: 1 }, { id: 2 }],
    addresses: { msisdn: '6590000001', lineId: 'line-1' },
    customAttributes: { b: '2' },
  });
  expect(second.status).toBe(200);
  expect(second.body).toMatchObject({
    id: first.id,
    firstName: 'Anna',
    lastName: 'Lee',
    groups: [{ id: 1 }, { id: 2 }],
    addresses: { msisdn: '6590000001', lineId: 'line-1' },
    customAttributes: { a: '1', b: '2' },
  });
  expect((await client.entries('contacts')).map(({ contactId, outcome }) => [contactId, outcome])).toEqual([
    [first.id, 'created'],
    [first.id, 'merged'],
  ]);
});

test('Open point, Endpoints, endpoint 4: a contact is found by e-mail in any case, and gives up the number that a merge replaced', async () => {
  const client = await aClient();
  const email = 'Ann@Shop.example';
  const first = await client.createContact({ addresses: { msisdn: '+6590000001', email } });
  const moved = await client.createContact({ addresses: { msisdn: '+6590000002', email: email.toLowerCase() } });
  expect([moved.status, moved.body.id]).toEqual([200, first.body.id]);
  expect((await client.createContact({ addresses: { msisdn: '+6590000001' } })).status).toBe(201);
});

test("Open point, Endpoints, endpoint 4: many times at once a contact is created once, and is not another account's", async () => {
  const client = await aClient({ accounts: [{ account: 'other' }] });
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.createContact(aContact())));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect((await client.ask(aContact(), { path: '/accounts/other/contacts' })).status).toBe(201);
});
