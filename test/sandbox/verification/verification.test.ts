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

test('of many checks at once with wrong codes five count, and the session is FAILED once', async () => {
  const { client, id, code } = await aSession();
  await Promise.all(Array.from({ length: 20 }, () => readSession(client, id, wrongCode(code))));
  expect(await statusOf(client, id)).toEqual(['FAILED', 5]);
  expect((await entries(client)).map(({ status }) => status)).toEqual([...Array(5).fill('WAITING'), 'FAILED']);
});

test('a code given twice is 400 and no attempt', async () => {
  const { client, id, code } = await aSession();
  const path = `${SESSIONS_PATH}/${id}?code=${code}&code=${code}`;
  expect((await client.ask(undefined, { method: 'GET', path })).status).toBe(400);
  expect(await statusOf(client, id)).toEqual(['WAITING', 0]);
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

test('one number written in three ways has one session', async () => {
  const client = await aClient({ clock: aClock() });
  expect((await createSession(client, { destination: '+6590000001' })).status).toBe(200);
  expect((await createSession(client, { destination: '6590000001' })).body.code).toBe(1400);
  expect((await createSession(client, { destination: '9000 0001', country: 'SG' })).body.code).toBe(1400);
});

test('of many creations at once one sends', async () => {
  const client = await aClient({ clock: aClock() });
  const answers = await Promise.all(Array.from({ length: 20 }, () => createSession(client)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ body }) => body.code === 1400)).toHaveLength(19);
  expect(await entries(client)).toHaveLength(1);
});
