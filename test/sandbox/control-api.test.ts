import { request } from 'undici';
import { expect, test } from 'vitest';
import { type Answered, aBatch, aClient, aContact, type Client } from './sandbox-client.js';

const get = (client: Client, path: string) => client.ask(undefined, { method: 'GET', path, authorization: undefined });
const remove = (client: Client, path: string) =>
  client.ask(undefined, { method: 'DELETE', path, authorization: undefined });
const setFaults = (client: Client, body: unknown) =>
  client.ask(body, { path: '/_sandbox/faults', authorization: undefined, contentType: undefined });

function lines({ text }: Answered): unknown[] {
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('GET /_sandbox/ledger streams what readLedger gives, as NDJSON, without a key', async () => {
  const client = await aClient();
  expect(lines(await get(client, '/_sandbox/ledger'))).toEqual([]);
  await client.sendBatch(aBatch(2500));
  await client.createContact(aContact());
  const answer = await get(client, '/_sandbox/ledger');
  expect(answer.headers['content-type']).toBe('application/x-ndjson');
  expect(lines(answer)).toEqual(await client.ledger());
  expect(lines(answer)).toHaveLength(2501);
});

/** All that needs no key, also in percent encoding. */
const OPEN = ['/_sandbox', '/_sandbox/ledger', '/%5Fsandbox/ledger', '/_sandbox/campaigns'];

test.each<[string, Record<string, string>, number]>([
  ['a web page elsewhere', { origin: 'https://evil.example' }, 404],
  ['a web page of this machine', { origin: 'http://localhost:3000' }, 404],
  ['a page without a name', { origin: 'null' }, 404],
  ['a page whose name was made to lead here', { host: 'evil.example:4010' }, 404],
  ['a name that begins like this machine', { host: 'localhost.evil.example' }, 404],
  ['an address of another machine', { host: '192.168.0.7:4010' }, 404],
  ['curl', {}, 200],
  ['curl, by name', { host: 'localhost:4010' }, 200],
  ['curl, by IPv6', { host: '[::1]:4010' }, 200],
])('%s gets nothing that needs no key, or all of it', async (_, headers, expected) => {
  const { sandbox } = await aClient();
  for (const path of OPEN) {
    const { statusCode, body } = await request(`${sandbox.origin}${path}`, { headers });
    expect([path, statusCode]).toEqual([path, expected]);
    await body.dump();
  }
  const { statusCode } = await request(`${sandbox.origin}/_sandbox/ledger`, { method: 'DELETE', headers });
  expect(statusCode).toBe(expected === 200 ? 204 : expected);
});

test('a sandbox that listens for other machines has names that it does not know, and answers no web page', async () => {
  const { sandbox } = await aClient({ host: '0.0.0.0' });
  const ask = async (headers: Record<string, string>) => {
    const { statusCode, body } = await request(`${sandbox.origin}/_sandbox`, { headers });
    await body.dump();
    return statusCode;
  };
  expect(await ask({ host: 'sandbox:4010' })).toBe(200);
  expect(await ask({ host: 'sandbox:4010', origin: 'https://evil.example' })).toBe(404);
});

test('GET /_sandbox/requests streams what readRequests gives, and DELETE clears it without counting anew', async () => {
  const client = await aClient();
  await client.sendBatch(aBatch(2));
  const answer = await get(client, '/_sandbox/requests');
  expect(lines(answer)).toEqual([...client.sandbox.readRequests()]);
  expect(lines(answer)).toMatchObject([{ number: 1, messages: 2 }]);
  expect((await remove(client, '/_sandbox/requests')).status).toBe(204);
  await client.sendBatch(aBatch(1));
  expect(lines(await get(client, '/_sandbox/requests'))).toMatchObject([{ number: 2, messages: 1 }]);
});

test('faults can be set, shown with how often they struck, and cleared', async () => {
  const client = await aClient();
  const set = await setFaults(client, { kind: 'status-503', times: 1, retryAfter: 7 });
  expect(set).toMatchObject({ status: 200, body: [{ kind: 'status-503', times: 1, applied: 0 }] });
  expect((await client.sendBatch(aBatch())).headers['retry-after']).toBe('7');
  expect((await get(client, '/_sandbox/faults')).body).toMatchObject([{ kind: 'status-503', applied: 1 }]);
  expect((await setFaults(client, [{ kind: 'empty' }, { kind: 'html' }])).body).toHaveLength(2);
  expect((await remove(client, '/_sandbox/faults')).status).toBe(204);
  expect((await get(client, '/_sandbox/faults')).body).toEqual([]);
  expect((await client.sendBatch(aBatch())).status).toBe(200);
});

// What is refused of a fault is in fault-set.test.ts.
test('POST /_sandbox/faults refuses what is no fault with 400 and says why', async () => {
  const client = await aClient();
  for (const body of [{ kind: 'gremlins' }, '{', undefined]) {
    const message = expect.stringMatching(/^Cannot set faults: /);
    expect(await setFaults(client, body)).toMatchObject({ status: 400, body: { message } });
  }
});

test('GET /_sandbox counts what was accepted and what arrived', async () => {
  const client = await aClient();
  await client.sendBatch(aBatch(2));
  await client.createContact(aContact());
  expect((await get(client, '/_sandbox')).body).toEqual({ accepted: { sms: 2, contacts: 1 }, requests: 2, faults: 0 });
});
