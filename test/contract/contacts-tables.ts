import { aContact, CONTACTS_PATH } from '../sandbox/sandbox-client.js';
import type { BearerArea, Fields } from './bearer-area.js';

const EMAIL_END = '@shop.example';

const groups = (count: number) => Array.from({ length: count }, (_, place) => ({ id: place + 1 }));
const attributes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [`key${place}`, 'x']));
const email = (length: number) => ({ addresses: { email: `${'a'.repeat(length - EMAIL_END.length)}${EMAIL_END}` } });
const weChat = (length: number) => ({ addresses: { weChatUserId: 'w'.repeat(length) } });
const facebook = (length: number) => ({ addresses: { facebookUserId: 'f'.repeat(length) } });

const ATTRIBUTES = { tier: 'gold', 'shoe size': '38' };

/** "Contact (creation request body)": field, type, value, and what the account then holds. */
export const FIELDS: readonly (readonly [field: string, type: string, given: unknown, held: unknown])[] = [
  ['firstName', 'a string', 'Ann', 'Ann'],
  ['lastName', 'a string', 'Lee', 'Lee'],
  ['externalId', 'a string', 'c-1', 'c-1'],
  ['country', 'a string, two-letter country code', 'SG', 'SG'],
  ['groups', 'an array of objects with id, an integer', [{ id: 1042 }, { id: 7 }], [1042, 7]],
  ['addresses.msisdn', 'a string, phone number', '+6590000001', '6590000001'],
  ['addresses.weChatUserId', 'a string', 'wechat-1', 'wechat-1'],
  ['addresses.facebookUserId', 'a string', 'facebook-1', 'facebook-1'],
  ['addresses.email', 'a string', 'ann@shop.example', 'ann@shop.example'],
  ['customAttributes', 'an object of free keys and string values', ATTRIBUTES, ATTRIBUTES],
];

/** The same: values that are not of the type, one for each row. */
export const NOT_OF_TYPE: readonly (readonly [field: string, value: unknown])[] = [
  ['firstName', 7],
  ['lastName', ['Lee']],
  ['externalId', 7],
  ['country', 65],
  ['country', 'Singapore'],
  ['groups', { id: 1042 }],
  ['groups', [1042]],
  ['groups', [{ id: '1042' }]],
  ['groups', [{ id: 1.5 }]],
  ['addresses', '+6590000001'],
  ['addresses', []],
  ['addresses.msisdn', 6590000001],
  ['addresses.msisdn', 'nobody'],
  ['addresses.weChatUserId', 7],
  ['addresses.facebookUserId', 7],
  ['addresses.email', 7],
  ['addresses.email', 'nobody'],
  ['customAttributes', ['gold']],
  ['customAttributes', { age: 38 }],
];

/** Contacts that are there, contact that is created, and what comes of it. */
export const OUTCOMES: readonly (readonly [string, readonly Fields[], Fields, Outcome])[] = [
  ['an address that no one has', [], aContact(), { status: 201, hasLocation: true, contactId: 0 }],
  ['an address that one contact has', [aContact()], aContact(), { status: 200, hasLocation: false, contactId: 1 }],
  [
    'addresses that several contacts have',
    [aContact(), aContact({ addresses: { email: 'ann@shop.example' } })],
    aContact({ addresses: { msisdn: '+6590000001', email: 'ann@shop.example' } }),
    { status: 409, hasLocation: false },
  ],
];

interface Outcome {
  readonly status: number;
  readonly hasLocation: boolean;
  /** Place of the contact that it is about, from 1; 0 is a new one. */
  readonly contactId?: number;
}

/** Sizes: field, limit, what is within, what is beyond, and the code of the refusal. */
export const SIZES: readonly (readonly [string, string, Fields, Fields, number])[] = [
  ['firstName', 'at most 200', { firstName: 'a'.repeat(200) }, { firstName: 'a'.repeat(201) }, 1000],
  ['lastName', 'at most 200', { lastName: 'a'.repeat(200) }, { lastName: 'a'.repeat(201) }, 1000],
  ['externalId', 'at most 50', { externalId: 'a'.repeat(50) }, { externalId: 'a'.repeat(51) }, 1000],
  ['country', 'at least 2', { country: 'SG' }, { country: 'S' }, 1009],
  ['country', 'at most 2', { country: 'SG' }, { country: 'SGP' }, 1009],
  ['groups', 'at least 1', { groups: groups(1) }, { groups: groups(0) }, 1000],
  ['groups', 'at most 10', { groups: groups(10) }, { groups: groups(11) }, 1000],
  ['groups', 'unique', { groups: groups(2) }, { groups: [...groups(1), ...groups(1)] }, 1000],
  ['customAttributes', 'at most 50', { customAttributes: attributes(50) }, { customAttributes: attributes(51) }, 1000],
  ['addresses.email', 'at most 320', email(320), email(321), 1000],
  ['addresses.weChatUserId', 'at most 128', weChat(128), weChat(129), 1000],
  ['addresses.facebookUserId', 'at most 128', facebook(128), facebook(129), 1000],
];

/** Requests that are refused: status, code, when, what the contact says. Those of the path are in bearer-area.ts. */
export const ERRORS: readonly (readonly [status: number, code: number, when: string, fields: Fields])[] = [
  [400, 1000, 'no address is given', { addresses: {} }],
  [400, 1000, 'addresses are left out', { addresses: undefined }],
  [400, 1002, 'the number is none', { addresses: { msisdn: '12' } }],
];

export const OTHER_ADDRESSES: BearerArea['others'] = [
  ['Versioning', 'POST', `/v1${CONTACTS_PATH}`],
  ['Versioning', 'POST', `/api/v2${CONTACTS_PATH}`],
  ['Endpoints, endpoint 4', 'GET', CONTACTS_PATH],
  ['Endpoints, endpoint 4', 'PUT', CONTACTS_PATH],
  ['Endpoints, endpoint 4', 'POST', '/accounts/contacts'],
];
