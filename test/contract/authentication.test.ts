import { expect, test } from 'vitest';
import type { Area } from '../../src/domain/areas.js';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { MESSAGES } from '../sandbox/campaign-and-chat.js';
import { type Asked, aClient, bearer, errorOf } from '../sandbox/sandbox-client.js';
import { expectAccepted } from './contract-fields.js';
import { type CredentialName, OPERATIONS, type Operation } from './operations.js';

const { apiKey, chatKey, gatewayKey, campaign } = TEST_CREDENTIALS;
const { username, dataToken, actionToken } = campaign;

const toBase64 = (text: string) => Buffer.from(text).toString('base64');
const authorization = (value: string): Asked => ({ authorization: value });
const basic = (text: string) => authorization(`Basic ${toBase64(text)}`);
const key = (value: string): Asked => ({ authorization: undefined, key: value });

const RIGHT: Readonly<Record<CredentialName, Asked>> = {
  'API key': authorization(bearer(apiKey)),
  'data token': basic(`${username}:${dataToken}`),
  'action token': basic(`${username}:${actionToken}`),
  'chat key': key(chatKey),
  'gateway key': key(gatewayKey),
};

const CREDENTIAL_NAMES = Object.keys(RIGHT) as CredentialName[];

/** Wrong ways of a bearer key, of basic credentials with a token, and of a key in a header of its own. */
const wrongBearer = (right: string): readonly [string, Asked][] => [
  ['another key', authorization(bearer(`${right}x`))],
  ['the scheme without a key', authorization('Bearer')],
  ['the key without a scheme', authorization(right)],
  ['the key in the scheme Basic', authorization(`Basic ${right}`)],
  ['the key encoded, in the scheme Basic', basic(right)],
  ['the key in x-api-key', key(right)],
];

const wrongBasic = (right: string): readonly [string, Asked][] => [
  ['another token', basic(`${username}:${right}x`)],
  ['another user name', basic(`other:${right}`)],
  ['no user name', basic(`:${right}`)],
  ['no token', basic(username)],
  ['an empty token', basic(`${username}:`)],
  ['the scheme without a value', authorization('Basic')],
  ['user name and token not encoded', authorization(`Basic ${username}:${right}`)],
  ['user name and token encoded, without a scheme', authorization(toBase64(`${username}:${right}`))],
  ['user name and token encoded, in the scheme Bearer', authorization(bearer(toBase64(`${username}:${right}`)))],
  ['the token in the scheme Bearer', authorization(bearer(right))],
  ['the token in x-api-key', key(right)],
];

const wrongKey = (right: string): readonly [string, Asked][] => [
  ['another key', key(`${right}x`)],
  ['an empty key', key('')],
  ['the key in the scheme Bearer', authorization(bearer(right))],
  ['the key in the scheme Basic', basic(right)],
  ['the key in authorization', authorization(right)],
  ['the scheme Bearer in x-api-key', key(bearer(right))],
];

const WRONG: Readonly<Record<CredentialName, readonly [string, Asked][]>> = {
  'API key': wrongBearer(apiKey),
  'data token': wrongBasic(dataToken),
  'action token': wrongBasic(actionToken),
  'chat key': wrongKey(chatKey),
  'gateway key': wrongKey(gatewayKey),
};

const toTitle = ({ isOpen, area, name }: Operation) =>
  `${isOpen ? 'Open point, ' : ''}Authentication, ${area}: ${name}`;

/** Areas by their headings in the contract, and with what a key is refused that is not that of the call. */
const AREAS: Readonly<Record<string, readonly [area: Area, code: unknown]>> = {
  Verification: ['verification', 1200],
  'SMS batch': ['sms', 1200],
  Contacts: ['contacts', 1200],
  'Chat gateway': ['gateway', 'access_denied'],
  'Campaign status': ['campaign', undefined],
  'Workplace chat': ['chat', 'oauth.v2.InvalidAccessToken'],
};

// The keys of other accounts are in bearer-area.ts.
test.each(OPERATIONS.map((operation) => [toTitle(operation), operation.credential, operation] as const))(
  "%s takes the %s; open point, Errors: any other is answered 401 in the area's own form, and does nothing",
  async (_, credential, { area, method, body, prepare }) => {
    const client = await aClient({ rateLimits: {} });
    const path = await prepare(client);
    const others = CREDENTIAL_NAMES.filter((name) => name !== credential).map(
      (name) => [`the ${name}`, RIGHT[name]] as const,
    );
    const nothing = ['no credential', { authorization: undefined }] as const;
    const before = await client.ledger();
    for (const [what, asked] of [nothing, ...others, ...WRONG[credential]]) {
      const refused = await client.ask(body, { method, path, ...asked });
      expect([what, refused.status, refused.body]).toEqual([what, 401, errorOf(...AREAS[area]!)]);
    }
    expect(await client.ledger()).toEqual(before);
    expectAccepted(await client.ask(body, { method, path, ...RIGHT[credential] }));
  },
);

test.each(OPERATIONS.filter(({ body }) => body !== undefined).map((each) => [each.area, each.name, each] as const))(
  'Endpoints, %s: %s takes application/json, with a charset or without, and no other Content-Type',
  async (_area, _name, { credential, method, body, prepare }) => {
    const send = async (contentType: string | undefined) => {
      const client = await aClient();
      const path = await prepare(client);
      const before = (await client.ledger()).length;
      // As text, so that the header is the row's alone.
      const answer = await client.ask(JSON.stringify(body), { method, path, contentType, ...RIGHT[credential] });
      return { answer, entries: (await client.ledger()).length - before };
    };
    for (const contentType of ['text/plain', 'application/jsonish', 'application/x-www-form-urlencoded', undefined]) {
      const { answer, entries } = await send(contentType);
      expect([contentType, answer.status, entries]).toEqual([contentType, 400, 0]);
    }
    for (const contentType of ['application/json', 'application/json; charset=utf-8'])
      expectAccepted((await send(contentType)).answer);
  },
);

test('Errors, 1: an invalid key of the workplace chat is a fault that says so', async () => {
  const client = await aClient();
  const refused = await client.ask(undefined, { method: 'GET', path: MESSAGES, ...key('who-is-this') });
  expect(refused.body.fault.faultstring).toMatch(/invalid access token/i);
});
