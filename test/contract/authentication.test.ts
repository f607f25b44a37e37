import { expect, test } from 'vitest';
import { TEST_CREDENTIALS } from '../../src/sandbox/check-credentials.js';
import { type Answered, aClient, bearer, type Client } from '../sandbox/sandbox-client.js';
import { askWith } from './ask-with.js';
import { expectAccepted, expectRefused } from './contract-fields.js';
import { type CredentialName, OPERATIONS, type Operation } from './operations.js';

type Headers = Readonly<Record<string, string>>;

const { apiKey, chatKey, gatewayKey, campaign } = TEST_CREDENTIALS;
const { username, dataToken, actionToken } = campaign;

const toBase64 = (text: string) => Buffer.from(text).toString('base64');
const authorization = (value: string): Headers => ({ authorization: value });
const basic = (text: string) => authorization(`Basic ${toBase64(text)}`);
const key = (value: string): Headers => ({ 'x-api-key': value });

const RIGHT: Readonly<Record<CredentialName, Headers>> = {
  'API key': authorization(bearer(apiKey)),
  'data token': basic(`${username}:${dataToken}`),
  'action token': basic(`${username}:${actionToken}`),
  'chat key': key(chatKey),
  'gateway key': key(gatewayKey),
};

const CREDENTIAL_NAMES = Object.keys(RIGHT) as CredentialName[];

/** Wrong ways of a bearer key, of basic credentials with a token, and of a key in a header of its own. */
const wrongBearer = (right: string): readonly [string, Headers][] => [
  ['another key', authorization(bearer(`${right}x`))],
  ['the scheme without a key', authorization('Bearer')],
  ['the key without a scheme', authorization(right)],
  ['the key in the scheme Basic', authorization(`Basic ${right}`)],
  ['the key encoded, in the scheme Basic', basic(right)],
  ['the key in x-api-key', key(right)],
];

const wrongBasic = (right: string): readonly [string, Headers][] => [
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

const wrongKey = (right: string): readonly [string, Headers][] => [
  ['another key', key(`${right}x`)],
  ['an empty key', key('')],
  ['the key in the scheme Bearer', authorization(bearer(right))],
  ['the key in the scheme Basic', basic(right)],
  ['the key in authorization', authorization(right)],
  ['the scheme Bearer in x-api-key', key(bearer(right))],
];

const WRONG: Readonly<Record<CredentialName, readonly [string, Headers][]>> = {
  'API key': wrongBearer(apiKey),
  'data token': wrongBasic(dataToken),
  'action token': wrongBasic(actionToken),
  'chat key': wrongKey(chatKey),
  'gateway key': wrongKey(gatewayKey),
};

const toTitle = ({ isOpen, area, name }: Operation) =>
  `${isOpen ? 'Open point, ' : ''}Authentication, ${area}: ${name}`;

test.each(OPERATIONS.map((operation) => [toTitle(operation), operation.credential, operation] as const))(
  '%s takes the %s',
  async (_, credential, operation) => {
    const client = await aClient();
    const call = await prepare(client, operation, RIGHT[credential]);
    expectAccepted(await call());
  },
);

const REFUSED = OPERATIONS.flatMap((operation) =>
  [
    ['no credential', {}] as const,
    ...CREDENTIAL_NAMES.filter((name) => name !== operation.credential).map(
      (name) => [`the ${name}`, RIGHT[name]] as const,
    ),
    ...WRONG[operation.credential],
  ].map(([what, headers]) => [toTitle(operation), what, operation, headers] as const),
);

test.each(REFUSED)('%s refuses %s', async (_, __, operation, headers) => {
  const client = await aClient();
  await expectRefused(client, await prepare(client, operation, headers));
});

const OTHER_ACCOUNT = { account: 'other', apiKey: 'key-of-the-other-account' };

test.each(
  OPERATIONS.filter(({ credential }) => credential === 'API key').map(
    (operation) => [toTitle(operation), operation] as const,
  ),
)('%s refuses the API key of another account', async (_, operation) => {
  const client = await aClient({ accounts: [OTHER_ACCOUNT] });
  await expectRefused(client, await prepare(client, operation, authorization(bearer(OTHER_ACCOUNT.apiKey))));
});

const someText = expect.stringMatching(/./);
const NOT_AUTHENTICATED = { code: 1200, message: someText, errorId: someText, timestamp: someText };
const PROBLEM = { message: someText, errors: [{ code: 'access_denied', message: someText }], referenceId: someText };
const FAULT = { fault: { faultstring: someText, detail: { errorcode: 'oauth.v2.InvalidAccessToken' } } };

/** The bodies with which each area refuses a request without a credential. */
const REFUSAL_OF_AREA: Readonly<Record<string, unknown>> = {
  Verification: NOT_AUTHENTICATED,
  'SMS batch': NOT_AUTHENTICATED,
  Contacts: NOT_AUTHENTICATED,
  'Chat gateway': PROBLEM,
  'Campaign status': { message: someText },
  'Workplace chat': FAULT,
};

test.each(OPERATIONS.map((operation) => [operation.area, operation.name, operation] as const))(
  "Open point, Errors, %s: %s answers 401 in the area's own form when there is no credential",
  async (area, _, operation) => {
    const client = await aClient();
    const call = await prepare(client, operation, {});
    const { status, body } = await call();
    expect([status, body]).toEqual([401, REFUSAL_OF_AREA[area]]);
  },
);

test('Authentication: the table has the nine endpoints and the four operations without a shown path, in all six areas', () => {
  const names = OPERATIONS.map(({ name }) => name);
  const numbers = names.flatMap((name) => name.match(/^\d/) ?? []);
  expect([...new Set(numbers)]).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  expect(names.filter((name) => !/^\d/.test(name))).toEqual([
    'create webhook',
    'create channel',
    'update conversation (PUT)',
    'update conversation (PATCH)',
    'send a message',
  ]);
  expect(new Set(OPERATIONS.map(({ area }) => area))).toEqual(new Set(Object.keys(REFUSAL_OF_AREA)));
});

/** Makes what the operation is about; then the call, with these headers and no others. */
async function prepare(client: Client, operation: Operation, headers: Headers): Promise<() => Promise<Answered>> {
  const { method, body } = operation;
  const path = await operation.prepare(client);
  return () => askWith(client, { method, path, headers, body });
}
