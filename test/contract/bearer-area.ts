import { expect, test } from 'vitest';
import { byArea } from '../../src/domain/areas.js';
import type { Region } from '../../src/domain/service-facts.js';
import { readOptions } from '../../src/library/create-service.js';
import type { Service } from '../../src/library.js';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { aService } from '../library/a-service.js';
import { type Asked, aClient, aClock, type Client } from '../sandbox/sandbox-client.js';

/**
 * An area whose calls carry a bearer key: verification, SMS batch or contacts; and the tables that hold for each of them.
 * What the contract leaves open is marked "Open point" in a title.
 */
export interface BearerArea {
  /** As the contract's headings have it. */
  readonly title: string;
  readonly name: 'verification' | 'sms' | 'contacts';
  readonly endpoints: readonly [BearerEndpoint, ...BearerEndpoint[]];
  /** What stands in the paths of `acme`, and of an account that has a key of its own. */
  readonly ids: { readonly own: string; readonly foreign: string };
  /** A body of the first endpoint with a number that is none. */
  readonly badNumber: Fields;
  /** Paths and methods beside those of the contract, and the heading that shows it: 404 with code 1300. */
  readonly others: readonly (readonly [heading: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string])[];
  /** One call of Volley's own client to the first endpoint. */
  call(service: Service): Promise<unknown>;
}

export interface BearerEndpoint {
  /** The contract's number and name of it, such as "endpoint 3 (send SMS batch)". */
  readonly title: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Makes what the endpoint is about, and gives its path. */
  prepare(client: Client, id: string): Promise<string>;
  /** Undefined where it takes none. */
  readonly body?: Fields;
  /** Of its success. */
  readonly status: 200 | 201;
}

/** What a row says in a request. */
export type Fields = Readonly<Record<string, unknown>>;

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const OTHER_KEY = 'key-of-the-other-account';
const MOST_CHARACTERS = 'a'.repeat(50);

const MALFORMED = [undefined, '{"destination":', '[]', 'null', '"hello"', Buffer.from([0x22, 0xff, 0x22])];

/** The body of an error at noon. */
const ERROR = {
  code: 1002,
  message: expect.stringContaining('Invalid MSISDN'),
  errorId: expect.stringMatching(UUID),
  timestamp: '2026-11-21T12:00:00.000Z',
};

/** What the id of a subaccount is, the status and code of a call to it, and the id. */
const SUBACCOUNTS: readonly (readonly [what: string, status: number, code: number | undefined, id: string])[] = [
  ['the account with the suffix _hq', 200, undefined, 'acme_hq'],
  ['another one of the account', 200, undefined, 'acme_promo'],
  ['3 characters', 200, undefined, 'abc'],
  ['50 characters', 200, undefined, MOST_CHARACTERS],
  ['one with . - _ &', 200, undefined, 'a.b-c_d&e'],
  ['2 characters', 400, 1001, 'ab'],
  ['51 characters', 400, 1001, `${MOST_CHARACTERS}a`],
  ['one with a blank', 400, 1001, 'acme hq'],
  ["another account's", 403, 1201, 'other_hq'],
];

const REGION_ADDRESSES: readonly (readonly [Region | undefined, string, string, string])[] = [
  [undefined, 'https://verify.8x8.com', 'https://sms.8x8.com', 'https://contacts.8x8.com'],
  ['asia', 'https://verify.8x8.com', 'https://sms.8x8.com', 'https://contacts.8x8.com'],
  ['europe', 'https://verify.8x8.uk', 'https://sms.8x8.uk', 'https://contacts.8x8.uk'],
  ['indonesia', 'https://verify.8x8.id', 'https://sms.8x8.id', 'https://contacts.8x8.id'],
  ['north-america', 'https://verify.us.8x8.com', 'https://sms.us.8x8.com', 'https://contacts.us.8x8.com'],
];

/** Registers what holds of the paths of a key, of bodies and errors. Keys and headers are in authentication.test.ts, silence is in events.test.ts. */
export function testBearerArea(area: BearerArea): void {
  const { title, endpoints, ids } = area;
  const [first] = endpoints;
  const byTitle = endpoints.map((endpoint) => [endpoint.title, endpoint] as const);

  test.each(byTitle)(
    `Open point, Authentication, ${title}: %s refuses the key on another account's path with 403, code 1201`,
    async (_, endpoint) => {
      const { status, body } = await callEndpoint(await aClientOfTwoAccounts(), endpoint, ids.foreign);
      expect([status, body.code]).toEqual([403, 1201]);
    },
  );

  test.each(byTitle)('What the service does: response bodies of %s are JSON, of refusals too', async (_, endpoint) => {
    const client = await aClientOfTwoAccounts();
    for (const asked of [{}, { authorization: undefined }]) {
      const { headers, body } = await callEndpoint(client, endpoint, ids.own, asked);
      expect(headers['content-type']).toMatch(/^application\/json\b/);
      expect(body).toBeTypeOf('object');
    }
  });

  test(`Open point, Errors, ${title}: a body that is not a JSON object is 400, code 1000`, async () => {
    const client = await aClientOfTwoAccounts();
    const path = await first.prepare(client, ids.own);
    for (const malformed of MALFORMED) {
      const { status, body } = await client.ask(malformed, { path });
      expect([malformed, status, body.code]).toEqual([malformed, 400, 1000]);
    }
    expect(await client.ledger()).toEqual([]);
  });

  test.each(area.others)('%s: %s %s is 404, code 1300', async (_, method, path) => {
    const client = await aClientOfTwoAccounts();
    const { status, body } = await client.ask(method === 'GET' ? undefined : first.body, { method, path });
    expect([status, body.code]).toEqual([404, 1300]);
  });

  test(`Open point, Errors, ${title}: a body of code, message, errorId and timestamp`, async () => {
    const client = await aClient({ clock: aClock() });
    const { status, body } = await callEndpoint(client, { ...first, body: area.badNumber }, ids.own);
    expect([status, body]).toEqual([400, ERROR]);
  });
}

/** Registers what holds of regional addresses; `mark` is '' where the contract itself gives them to the area. */
export function testRegions({ title, name, call, endpoints: [first] }: BearerArea, mark: '' | 'Open point, '): void {
  test(`${mark}What the service does, 7 Regions: ${title} is called at the address of its region, and at no other`, async () => {
    const [asia, europe] = [await aClient(), await aClient()];
    const bases = { ...byArea(() => asia.sandbox.origin), [name]: europe.sandbox.origin };
    await call(aService('', { bases, credentials: { apiKey: TEST_CREDENTIALS.apiKey } }));
    const { method, status } = first;
    expect([...europe.sandbox.readRequests()]).toMatchObject([{ area: name, method, status }]);
    expect([...asia.sandbox.readRequests()]).toEqual([]);
  });

  test(`Open point, What the service does, 7 Regions: the address of ${title} in each of them, by default in Asia`, () => {
    for (const [region, verification, sms, contacts] of REGION_ADDRESSES) {
      const { bases } = readOptions({ account: 'acme', region, credentials: {} }).settings;
      expect([region, bases[name]]).toEqual([region, { verification, sms, contacts }[name]]);
    }
  });
}

/** Registers what holds of `subAccountId` in a path. */
export function testSubAccounts({ title, name, endpoints, call }: BearerArea): void {
  test(`What the service does, 8 subAccountId: ${title} has it in its path, by default the account with the suffix _hq`, async () => {
    const { sandbox } = await aClient();
    await call(aService(sandbox.origin, { account: 'acme', credentials: { apiKey: TEST_CREDENTIALS.apiKey } }));
    const path = expect.stringContaining('/subaccounts/acme_hq/');
    expect([...sandbox.readRequests()]).toMatchObject([{ area: name, path, status: 200 }]);
  });

  const byTitle = endpoints.map((endpoint) => [endpoint.title, endpoint] as const);
  test.each(byTitle)(
    'What the service does, 8 subAccountId: %s; open point: the form of an id, and the refusals',
    async (_, endpoint) => {
      for (const [what, status, code, id] of SUBACCOUNTS) {
        const answer = await callEndpoint(await aClientOfTwoAccounts(), endpoint, id);
        expect([what, answer.status, answer.body.code]).toEqual([what, status, code]);
      }
    },
  );
}

/** UUIDs that count from 1: what the service names first, second … is known. */
export function countedIds(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
}

/** Account `acme` with subaccounts beside its default one, and an account with a key of its own. */
function aClientOfTwoAccounts(): Promise<Client> {
  return aClient({
    accounts: [
      { account: 'acme', subAccountIds: ['acme_promo', 'abc', 'a.b-c_d&e', MOST_CHARACTERS] },
      { account: 'other', apiKey: OTHER_KEY },
    ],
  });
}

async function callEndpoint(client: Client, { method, prepare, body }: BearerEndpoint, id: string, asked: Asked = {}) {
  return client.ask(body, { method, path: await prepare(client, id), ...asked });
}
