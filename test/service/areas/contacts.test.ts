import { expect, test } from 'vitest';
import { createContact, readContactAnswer } from '../../../src/service/areas/contacts.js';
import { aService } from '../../plan/a-plan.js';
import { aResponse } from '../an-answer.js';

const read = (body: unknown, location?: string | string[]) => readContactAnswer(aResponse(body, 201, { location }));

test('a call encodes the account, or the id that stands for it', () => {
  const pathOf = (account: object) => createContact.request(aService(account), { addresses: {} }).path;
  const accountId = '0a1b2c3d-0000-4000-8000-0123456789ab';
  expect(pathOf({ account: 'acme', accountId })).toBe(`/accounts/${accountId}/contacts`);
  expect(pathOf({ account: 'a&b/c?d#e' })).toBe('/accounts/a%26b%2Fc%3Fd%23e/contacts');
});

test.each<[unknown, string | string[] | undefined, string | undefined]>([
  [{ id: 42 }, 'https://contacts.example/accounts/acme/contacts/42', '42'],
  [{ id: 'c-42' }, undefined, 'c-42'],
  [{ id: 0 }, undefined, '0'],
  ['', '/accounts/acme/contacts/17', '17'],
  ['<html>', '/accounts/acme/contacts/17', '17'],
  [{ id: null }, '/accounts/acme/contacts/17', '17'],
  [{ id: {} }, '/accounts/acme/contacts/17', '17'],
  ['', ['/contacts/1', '/contacts/2'], '1'],
  ['', '/accounts/acme/contacts/17?x=1', '17'],
  ['', '/accounts/acme/contacts/17/', '17'],
  ['', '/accounts/acme/Contacts/17/#a/b', '17'],
  [{ id: 17 }, '17', '17'],
  // Two contacts, or none.
  [{ id: 42 }, '/accounts/acme/contacts/43', undefined],
  ['', '/accounts/acme/contacts/17/notes', undefined],
  [{ status: 'ok' }, undefined, undefined],
  [{ status: 'ok' }, '/contacts/', undefined],
  [{ status: 'ok' }, '/elsewhere/17', undefined],
])('the answer %j with the location %j is about contact %s', (body, location, contactId) => {
  const header = Array.isArray(location) ? location[0] : location;
  expect(read(body, location)?.contactId).toBe(contactId);
  if (contactId !== undefined) expect(read(body, location)?.location).toBe(header ?? '');
});
