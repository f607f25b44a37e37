import { expect, test } from 'vitest';
import { aClient, aClock, aContact } from '../sandbox/sandbox-client.js';
import { type BearerArea, type BearerEndpoint, type Fields, testBearerArea, testRegions } from './bearer-area.js';
import { ERRORS, FIELDS, NOT_OF_TYPE, OTHER_ADDRESSES, OUTCOMES, REQUIRED, SIZES } from './contacts-tables.js';
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
  return { client, ...answer, held: (await client.contacts())[0]?.contact };
}

test('What the service does, 3 Contacts: a contact record is created in the account', async () => {
  const { client, body } = await aCreated(aContact());
  expect(await client.contacts()).toMatchObject([
    { account: 'acme', contactId: body.id, outcome: 'created', contact: { addresses: { msisdn: '6590000001' } } },
  ]);
});

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

test.each(REQUIRED)(
  'Open point, Resources, Contact (creation request body), which fields are required: %s → %i',
  async (_, contact, expected) => {
    expect((await aCreated(contact)).status).toBe(expected);
  },
);

test('Endpoints, endpoint 4: 201 Created with a Location header when it is successful', async () => {
  const { status, headers, body } = await aCreated(aContact());
  expect([status, headers.location]).toEqual([201, `/accounts/acme/contacts/${body.id}`]);
});

test('Open point, Endpoints, endpoint 4: the body of a success has the numeric id of the contact', async () => {
  const { body, held } = await aCreated(aContact());
  expect(Number.isSafeInteger(body.id)).toBe(true);
  expect(body.id).toBe(held?.id);
});

test.each(OUTCOMES)(
  'Open point, Endpoints, endpoint 4: %s → %s',
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
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(held).toBeUndefined();
});

test('Open point, Errors, 3 Contacts: 500, code 2000, when the service itself fails', async () => {
  const client = await aClient({}, { kind: 'internal-rows', area: 'contacts' });
  const { status, body } = await client.createContact(aContact());
  expect([status, body.code]).toEqual([500, 2000]);
});

test('Errors, 3 Contacts: an error object stands in the place of 201 and Location', async () => {
  const { status, headers, body } = await aCreated({});
  expect(status).not.toBe(201);
  expect(headers.location).toBeUndefined();
  expect(body).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
});

test.each(SIZES)('Open point, Limits, Contacts: %s, %s', async (_, __, within, beyond, code) => {
  expect((await aCreated(aContact(within))).status).toBe(201);
  const { status, body } = await aCreated(aContact(beyond));
  expect([status, body.code]).toEqual([400, code]);
});

test.each(OTHER_ADDRESSES)('%s: %s %s is 404, code 1300', async (_, method, path) => {
  const client = await aClient();
  const { status, body } = await client.ask(method === 'GET' ? undefined : aContact(), { method, path });
  expect([status, body.code]).toEqual([404, 1300]);
});
