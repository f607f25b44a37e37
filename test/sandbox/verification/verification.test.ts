import { expect, test } from 'vitest';
import { aClient, aClock, at, type Client } from '../sandbox-client.js';
import {
  createSession,
  entries,
  inspectSession,
  readSession,
  SESSIONS_PATH,
  wrongCode,
} from './verification-client.js';

const SECOND = 1000;

/** A client with a session, and its code. */
async function aSession(more: Record<string, unknown> = {}) {
  const clock = aClock();
  const client = await aClient({ clock });
  const id = (await createSession(client, more)).body.sessionID as string;
  const { code } = await inspectSession(client, id);
  return { client, clock, id, code: code as string };
}

async function statusOf(client: Client, id: string, code?: string) {
  const { status, body } = await readSession(client, id, code);
  return status === 200 ? [body.status, body.attempt] : [status, body.code];
}

test('§Verification session (creation): exactly the fields of the contract, WAITING, attempt 0, destination a number', async () => {
  const client = await aClient({ clock: aClock() });
  const { status, body } = await createSession(client);
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    sessionID: expect.stringMatching(/^[0-9a-f]{32}$/),
    verifyUri: `${SESSIONS_PATH}/${body.sessionID}`,
    destination: 6590000001,
    status: 'WAITING',
    attempt: 0,
    expiresAt: at(300 * SECOND),
    retryAfter: at(10 * SECOND),
  });
});

test('§Verification session (read): exactly the fields of the contract', async () => {
  const { client, id } = await aSession();
  const { status, body } = await readSession(client, id);
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    uid: id,
    resourceUri: `${SESSIONS_PATH}/${id}`,
    destination: 6590000001,
    status: 'WAITING',
    attempt: 0,
    expiresAt: at(300 * SECOND),
    nextSmsAfter: at(10 * SECOND),
  });
});

test('§States: a read without code changes nothing, however often', async () => {
  const { client, id } = await aSession();
  for (let time = 0; time < 7; time++) expect(await statusOf(client, id)).toEqual(['WAITING', 0]);
  expect(await entries(client)).toHaveLength(1);
});

test('§States: the right code makes WAITING VERIFIED, and keeps the count of wrong ones', async () => {
  const { client, id, code } = await aSession();
  expect(await statusOf(client, id, wrongCode(code))).toEqual(['WAITING', 1]);
  expect(await statusOf(client, id, code)).toEqual(['VERIFIED', 1]);
  expect(await statusOf(client, id)).toEqual(['VERIFIED', 1]);
});

test('§States: every wrong code counts, the fifth makes the session FAILED, and then no code helps', async () => {
  const { client, id, code } = await aSession();
  const wrong = wrongCode(code);
  const seen = [];
  for (let time = 0; time < 5; time++) seen.push(await statusOf(client, id, wrong));
  expect(seen).toEqual([
    ['WAITING', 1],
    ['WAITING', 2],
    ['WAITING', 3],
    ['WAITING', 4],
    ['FAILED', 5],
  ]);
  expect(await statusOf(client, id, code)).toEqual(['FAILED', 5]);
  expect(await statusOf(client, id, wrong)).toEqual(['FAILED', 5]);
  expect(await entries(client)).toHaveLength(6);
});

test('§States: VERIFIED is final, over wrong codes and over the expiry', async () => {
  const { client, clock, id, code } = await aSession();
  await readSession(client, id, code);
  expect(await statusOf(client, id, wrongCode(code))).toEqual(['VERIFIED', 0]);
  clock.advance(301 * SECOND);
  expect(await statusOf(client, id, code)).toEqual(['VERIFIED', 0]);
  expect(await entries(client)).toHaveLength(2);
});

test('§States: a session is WAITING until expiresAt and EXPIRED from then on, whatever code comes', async () => {
  const { client, clock, id, code } = await aSession({ codeValidity: 30 });
  clock.advance(30 * SECOND - 1);
  expect(await statusOf(client, id)).toEqual(['WAITING', 0]);
  clock.advance(1);
  expect(await statusOf(client, id)).toEqual(['EXPIRED', 0]);
  expect(await statusOf(client, id, code)).toEqual(['EXPIRED', 0]);
  expect(await statusOf(client, id, wrongCode(code))).toEqual(['EXPIRED', 0]);
  expect(await entries(client)).toHaveLength(1);
});

test('§States: FAILED stays FAILED when the code would have expired', async () => {
  const { client, clock, id, code } = await aSession();
  for (let time = 0; time < 5; time++) await readSession(client, id, wrongCode(code));
  clock.advance(3600 * SECOND);
  expect(await statusOf(client, id)).toEqual(['FAILED', 5]);
});

test('of many checks at once with wrong codes five count, and the session is FAILED once', async () => {
  const { client, id, code } = await aSession();
  await Promise.all(Array.from({ length: 20 }, () => readSession(client, id, wrongCode(code))));
  expect(await statusOf(client, id)).toEqual(['FAILED', 5]);
  expect((await entries(client)).map(({ status }) => status)).toEqual([...Array(5).fill('WAITING'), 'FAILED']);
});

test('§Endpoint 2: an unknown session is 404, also one of another subaccount', async () => {
  const client = await aClient({ accounts: [{ account: 'other' }] });
  const { sessionID } = (await createSession(client)).body;
  const path = `/api/v2/subaccounts/other_hq/sessions/${sessionID}`;
  const foreign = await client.ask(undefined, { method: 'GET', path });
  expect(foreign).toMatchObject({ status: 404, body: { code: 1300, message: 'Session not found' } });
  expect(await statusOf(client, 'f'.repeat(32))).toEqual([404, 1300]);
});

test.each(['', '12', '12345678901'])(
  'a code of another length than 3 to 10 is 400 and no attempt: "%s"',
  async (code) => {
    const { client, id } = await aSession();
    expect(await statusOf(client, id, code)).toEqual([400, 1000]);
    expect(await statusOf(client, id)).toEqual(['WAITING', 0]);
  },
);

test('a code given twice is 400 and no attempt', async () => {
  const { client, id, code } = await aSession();
  const path = `${SESSIONS_PATH}/${id}?code=${code}&code=${code}`;
  expect((await client.ask(undefined, { method: 'GET', path })).status).toBe(400);
  expect(await statusOf(client, id)).toEqual(['WAITING', 0]);
});

test('§Authentication: both endpoints need the bearer key of the subaccount', async () => {
  const { client, id } = await aSession();
  const path = `${SESSIONS_PATH}/${id}`;
  expect((await client.ask({}, { path: SESSIONS_PATH, authorization: undefined })).status).toBe(401);
  expect((await client.ask(undefined, { method: 'GET', path, authorization: 'Bearer no' })).status).toBe(401);
  expect((await client.ask({}, { path: SESSIONS_PATH.replace('acme', 'other') })).status).toBe(403);
});

test('ledger has each SMS with its code, and each check that changed the session', async () => {
  const { client, id, code } = await aSession({ brand: 'ACME', sms: { source: 'ACMEshop' } });
  await readSession(client, id);
  await readSession(client, id, wrongCode(code));
  await readSession(client, id, code);
  await readSession(client, id, code);
  const session = {
    sessionId: id,
    subAccountId: 'acme_hq',
    destination: 6590000001,
    expiresAt: at(300 * SECOND),
    nextSmsAfter: at(10 * SECOND),
    code,
    text: `ACME: Your verification code is ${code}`,
    source: 'ACMEshop',
  };
  const head = { at: at(0), area: 'verification' };
  expect(await entries(client)).toStrictEqual([
    { seq: 1, request: 1, ...head, event: 'code-sent', ...session, status: 'WAITING', attempt: 0 },
    { seq: 2, request: 3, ...head, event: 'code-checked', ...session, status: 'WAITING', attempt: 1 },
    { seq: 3, request: 4, ...head, event: 'code-checked', ...session, status: 'VERIFIED', attempt: 1 },
  ]);
});

test('GET /_sandbox/sessions/{id} shows code, SMS and the status of now, and 404 for what is unknown', async () => {
  const { client, clock, id, code } = await aSession();
  clock.advance(300 * SECOND);
  expect(await inspectSession(client, id)).toMatchObject({
    sessionId: id,
    status: 'EXPIRED',
    code,
    text: `Your verification code is ${code}`,
    source: null,
  });
  expect(await inspectSession(client, 'none')).toMatchObject({ code: 1300 });
});

test('DELETE /_sandbox/ledger forgets sessions too', async () => {
  const { client, id } = await aSession();
  await client.sandbox.clearLedger();
  expect(await statusOf(client, id)).toEqual([404, 1300]);
  expect((await createSession(client)).status).toBe(200);
});
