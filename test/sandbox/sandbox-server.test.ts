import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { aBatch, aClient, aContact, aMessage, BATCH_PATH, CONTACTS_PATH } from './sandbox-client.js';

const CODED = (code: number) => ({ code, message: expect.any(String), errorId: expect.any(String) });
const PROBLEM = {
  message: expect.any(String),
  errors: [{ code: expect.any(String), message: expect.any(String) }],
  referenceId: expect.any(String),
};
const FAULT = { fault: { faultstring: expect.any(String), detail: { errorcode: expect.any(String) } } };
const MESSAGE = { message: expect.any(String) };

test.each<[area: string, paths: readonly string[], form: (code: number) => object]>([
  ['sms', ['/api/v1/subaccounts/acme_hq/messages'], CODED],
  ['contacts', ['/accounts/acme/contact', '/api/v1/accounts/acme'], CODED],
  ['verification', ['/api/v2/subaccounts/acme_hq'], CODED],
  ['gateway', ['/chat-gateway', '/chat-gateway/v1/nothing', '/chat-gateway/v1/conversations/1/2/3'], () => PROBLEM],
  ['campaign', ['/api/stats/nothing', '/api/tstats/campaigns'], () => MESSAGE],
  ['chat', ['/chat/api', '/chat/api/chat/v1/rooms'], () => FAULT],
  ['no area, in that of most', ['/', '/nothing', '/api', '/metrics'], CODED],
])('errors of %s that no route answers have its form: 404 and 400', async (_, paths, form) => {
  const { sandbox } = await aClient();
  for (const path of paths) {
    expect(await askRaw(sandbox.origin, `POST ${path}`)).toEqual([404, expect.objectContaining(form(1300))]);
    // No percent encoding.
    const illegal = `${path}/%zz`.replace('//', '/');
    expect(await askRaw(sandbox.origin, `POST ${illegal}`)).toEqual([400, expect.objectContaining(form(1000))]);
  }
});

test.each<[path: string, form: object]>([
  [BATCH_PATH, CODED(1100)],
  [CONTACTS_PATH, CODED(1100)],
  ['/api/v2/subaccounts/acme_hq/sessions', CODED(1100)],
  ['/chat-gateway/v1/conversations', PROBLEM],
  ['/api/tstats/campaigns/101', MESSAGE],
  ['/chat/api/chat/v1/messages', FAULT],
])('a body above 64 MiB for %s is refused in the form of its area', async (path, form) => {
  const { sandbox } = await aClient();
  const head = `POST ${path}`;
  const answer = await askRaw(sandbox.origin, head, 'content-type: application/json', 'content-length: 70000000');
  expect(answer).toEqual([413, expect.objectContaining(form)]);
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

test('sandbox takes 10,000 messages of ten parts each', async () => {
  const client = await aClient();
  const text = 'x'.repeat(1530);
  const messages = Array.from({ length: 10_000 }, (_, place) => aMessage(place, { text }));
  const { status, body } = await client.ask({ messages });
  expect(status).toBe(200);
  expect(body).toMatchObject({ acceptedCount: 10_000, rejectedCount: 0, messages: null });
});

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
  const ledger = await client.ledger();
  expect(ledger.map(({ request }) => request)).toEqual([1, 1, 4]);
});
