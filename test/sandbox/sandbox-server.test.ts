import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Area } from '../../src/domain/areas.js';
import { MESSAGES } from './campaign-and-chat.js';
import { CONVERSATIONS } from './gateway/gateway-client.js';
import { aBatch, aClient, aContact, BATCH_PATH, CONTACTS_PATH, errorOf } from './sandbox-client.js';
import { SESSIONS_PATH } from './verification/verification-client.js';

/** Paths that no route answers; those of no area have the form of most. */
const UNKNOWN: readonly (readonly [area: Area, paths: readonly string[]])[] = [
  ['sms', ['/api/v1/subaccounts/acme_hq/messages', '/', '/nothing', '/api', '/metrics']],
  ['contacts', ['/accounts/acme/contact', '/api/v1/accounts/acme']],
  ['verification', ['/api/v2/subaccounts/acme_hq']],
  ['gateway', ['/chat-gateway', '/chat-gateway/v1/nothing', '/chat-gateway/v1/conversations/1/2/3']],
  ['campaign', ['/api/stats/nothing', '/api/tstats/campaigns']],
  ['chat', ['/chat/api', '/chat/api/chat/v1/rooms']],
];
const CODED_AREAS: readonly Area[] = ['sms', 'contacts', 'verification'];
const errorWith = (area: Area, code: number) => errorOf(area, CODED_AREAS.includes(area) ? code : undefined);

test.each(UNKNOWN)('errors of %s that no route answers have its form: 404 and 400', async (area, paths) => {
  const { sandbox } = await aClient();
  for (const path of paths) {
    expect(await askRaw(sandbox.origin, `POST ${path}`)).toEqual([404, errorWith(area, 1300)]);
    // No percent encoding.
    const illegal = `${path}/%zz`.replace('//', '/');
    expect(await askRaw(sandbox.origin, `POST ${illegal}`)).toEqual([400, errorWith(area, 1000)]);
  }
});

test.each<[path: string, area: Area]>([
  [BATCH_PATH, 'sms'],
  [CONTACTS_PATH, 'contacts'],
  [SESSIONS_PATH, 'verification'],
  [CONVERSATIONS, 'gateway'],
  ['/api/tstats/campaigns/101', 'campaign'],
  [MESSAGES, 'chat'],
])('a body above 64 MiB for %s is refused in the form of its area', async (path, area) => {
  const { sandbox } = await aClient();
  const head = `POST ${path}`;
  const answer = await askRaw(sandbox.origin, head, 'content-type: application/json', 'content-length: 70000000');
  expect(answer).toEqual([413, errorWith(area, 1100)]);
});

/** Sends the head of a request, as it stands. */
async function askRaw(origin: string, head: string, ...headers: string[]): Promise<[status: number, body: unknown]> {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const lines = [`${head} HTTP/1.1`, `host: ${host}`, 'connection: close', ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const text = String(await buffer(socket));
  return [Number(text.split(' ')[1]), JSON.parse(text.slice(text.indexOf('\r\n\r\n')))];
}

test('sandbox numbers and logs every request, refused and unknown ones too, and none to itself', async () => {
  const client = await aClient();
  await client.sendBatch(aBatch(2));
  await client.ask(aBatch(), { authorization: undefined });
  await client.ask(undefined, { method: 'GET', path: '/nowhere?a=1' });
  await client.ask(undefined, { method: 'GET', path: '/_sandbox' });
  await client.createContact(aContact());
  const entries = [...client.sandbox.readRequests()];
  expect(entries).toMatchObject([
    { number: 1, area: 'sms', method: 'POST', path: BATCH_PATH, status: 200, messages: 2, fault: null },
    { number: 2, area: 'sms', method: 'POST', path: BATCH_PATH, status: 401, messages: 3, fault: null },
    { number: 3, area: null, method: 'GET', path: '/nowhere', status: 404, messages: 0, fault: null },
    { number: 4, area: 'contacts', method: 'POST', path: CONTACTS_PATH, status: 201, messages: 1, fault: null },
  ]);
  const times = entries.map(({ atMs }) => atMs);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect((await client.ledger()).map(({ request }) => request)).toEqual([1, 1, 4]);
});
