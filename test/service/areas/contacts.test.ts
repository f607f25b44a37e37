import { describe, expect, test } from 'vitest';
import type { Response } from '../../../src/service/answer.js';
import { createContact, readContactAnswer } from '../../../src/service/areas/contacts.js';
import { aService } from '../../plan/a-plan.js';

const CONTACT = { addresses: { msisdn: '+6591234567' } };

function anAnswer(body: unknown, location?: string | string[]): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'response', status: 201, headers: { location }, body: Buffer.from(text) };
}

describe('contact call', () => {
  test('encodes the account', () => {
    const accountId = '0a1b2c3d-0000-4000-8000-0123456789ab';
    expect(createContact.request(aService({ account: 'acme', accountId }), CONTACT).path).toBe(
      `/accounts/${accountId}/contacts`,
    );
    expect(createContact.request(aService({ account: 'a&b/c?d#e' }), CONTACT).path).toBe(
      '/accounts/a%26b%2Fc%3Fd%23e/contacts',
    );
  });
});

describe('contact answer', () => {
  test('gives the id from the body, and the location from the header', () => {
    const location = 'https://contacts.example/accounts/acme/contacts/42';
    expect(readContactAnswer(anAnswer({ id: 42 }, location))).toMatchObject({ contactId: '42', location });
    expect(readContactAnswer(anAnswer({ id: 'c-42' }))).toMatchObject({ contactId: 'c-42', location: '' });
    expect(readContactAnswer(anAnswer({ id: 0 }))).toMatchObject({ contactId: '0', location: '' });
  });

  test.each(['', '{}', { id: null }, { id: '' }, { id: {} }, '[]', 'null', '<html>'])(
    'gives the id from the header where the body (%j) has none',
    (body) => {
      const answer = readContactAnswer(anAnswer(body, '/accounts/acme/contacts/17?x=1'));
      expect(answer).toBeUndefined();
      expect(readContactAnswer(anAnswer(body, '/accounts/acme/contacts/17'))).toMatchObject({
        contactId: '17',
        location: '/accounts/acme/contacts/17',
      });
    },
  );

  test('is undefined when body and header name two different contacts', () => {
    expect(readContactAnswer(anAnswer({ id: 42 }, '/accounts/acme/contacts/43'))).toBeUndefined();
  });

  test('takes the first of several locations', () => {
    expect(readContactAnswer(anAnswer('', ['/contacts/1', '/contacts/2']))?.contactId).toBe('1');
  });

  test.each([undefined, '', '/contacts/', '/elsewhere/17', 'contacts'])(
    'is undefined when neither body nor header (%s) says which contact it is',
    (location) => {
      expect(readContactAnswer(anAnswer({ status: 'ok' }, location))).toBeUndefined();
    },
  );
});
