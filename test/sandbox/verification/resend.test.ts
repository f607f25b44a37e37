import { expect, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { createSession, entries, inspectSession, readSession, wrongCode } from './verification-client.js';

const SECOND = 1000;

test('a second creation within the resending interval is 403 with code 1400, and sends nothing', async () => {
  const clock = aClock();
  const client = await aClient({ clock });
  await createSession(client, { resendingInterval: 60 });
  clock.advance(60 * SECOND - 1);
  const { status, body } = await createSession(client);
  expect([status, body.code]).toEqual([403, 1400]);
  expect(body.message).toContain(at(60 * SECOND));
  expect(await createSession(client, { resetSession: true })).toMatchObject({ status: 403, body: { code: 1400 } });
  expect(await entries(client)).toHaveLength(1);
});

test('a creation at retryAfter sends the same code again: same session, attempts kept, validity and interval anew', async () => {
  const clock = aClock();
  const client = await aClient({ clock });
  const first = (await createSession(client)).body;
  const { code } = await inspectSession(client, first.sessionID);
  await readSession(client, first.sessionID, wrongCode(code));
  clock.advance(10 * SECOND);
  const again = await createSession(client, { codeValidity: 600, resendingInterval: 20, codeLength: 8, brand: 'ACME' });
  expect(again.status).toBe(200);
  expect(again.body).toStrictEqual({
    ...first,
    attempt: 1,
    expiresAt: at(610 * SECOND),
    retryAfter: at(30 * SECOND),
  });
  expect((await entries(client)).map(({ event, text }) => [event, text])).toEqual([
    ['code-sent', `Your verification code is ${code}`],
    ['code-checked', `Your verification code is ${code}`],
    ['code-sent', `ACME: Your verification code is ${code}`],
  ]);
  expect((await readSession(client, first.sessionID, code)).body.status).toBe('VERIFIED');
});

test('resetSession at retryAfter: the same session with a new code and attempt 0; the old code is wrong', async () => {
  const clock = aClock();
  const client = await aClient({ clock });
  const { sessionID } = (await createSession(client, { codeLength: 10 })).body;
  const { code } = await inspectSession(client, sessionID);
  await readSession(client, sessionID, wrongCode(code));
  clock.advance(10 * SECOND);
  const { body } = await createSession(client, { codeLength: 10, resetSession: true });
  expect(body).toMatchObject({ sessionID, status: 'WAITING', attempt: 0 });
  const renewed = (await inspectSession(client, sessionID)).code;
  expect(renewed).not.toBe(code);
  expect((await readSession(client, sessionID, code)).body).toMatchObject({ status: 'WAITING', attempt: 1 });
  expect((await readSession(client, sessionID, renewed)).body.status).toBe('VERIFIED');
});

test.each(['VERIFIED', 'FAILED', 'EXPIRED'] as const)(
  'a creation after %s opens a new session at once, and leaves the old as it is',
  async (status) => {
    const clock = aClock();
    const client = await aClient({ clock });
    const { sessionID } = (await createSession(client, { resendingInterval: 7200, codeValidity: 300 })).body;
    const { code } = await inspectSession(client, sessionID);
    if (status === 'VERIFIED') await readSession(client, sessionID, code);
    if (status === 'FAILED') for (let time = 0; time < 5; time++) await readSession(client, sessionID, wrongCode(code));
    if (status === 'EXPIRED') clock.advance(300 * SECOND);
    const { body } = await createSession(client);
    expect(body).toMatchObject({ status: 'WAITING', attempt: 0 });
    expect(body.sessionID).not.toBe(sessionID);
    expect((await readSession(client, sessionID)).body.status).toBe(status);
  },
);

test('another number and another subaccount have sessions of their own', async () => {
  const client = await aClient({ clock: aClock(), accounts: [{ account: 'other' }] });
  const path = '/api/v2/subaccounts/other_hq/sessions';
  const answers = [
    await createSession(client),
    await createSession(client, { destination: '+6590000002' }),
    await client.ask({ destination: '+6590000001' }, { path }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body.sessionID)).size).toBe(3);
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
