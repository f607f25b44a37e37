import { expect, test } from 'vitest';
import { aClient, aClock } from '../sandbox-client.js';
import { createSession, entries, inspectSession, readSession, wrongCode } from './verification-client.js';

const to = (number: number) => ({ destination: `+65${90_000_000 + number}` });

test('fault partial leaves the id out of creation and of read', async () => {
  const client = await aClient({ clock: aClock() });
  const { sessionID } = (await createSession(client)).body;
  client.sandbox.setFaults([{ kind: 'partial', area: 'verification' }]);
  const created = (await createSession(client, to(2))).body;
  expect(created).toMatchObject({ status: 'WAITING', destination: 6590000002 });
  expect(created).not.toHaveProperty('sessionID');
  const read = (await readSession(client, sessionID)).body;
  expect(read).toMatchObject({ status: 'WAITING' });
  expect(read).not.toHaveProperty('uid');
});

test('fault foreign gives the body of another session, also when there was none', async () => {
  const client = await aClient({}, { kind: 'foreign', area: 'verification', nth: [1, 3, 4, 5] });
  const invented = (await createSession(client)).body;
  const [first] = await entries(client);
  expect(invented.sessionID).not.toBe(first?.sessionId);
  const second = (await createSession(client, to(2))).body;
  const third = (await createSession(client, to(3))).body;
  expect(third).toEqual(second);
  for (let time = 0; time < 2; time++) {
    expect((await readSession(client, second.sessionID)).body.uid).not.toBe(second.sessionID);
  }
});

test('fault status-503 before a check takes no attempt, reset-after does', async () => {
  const client = await aClient();
  const { sessionID } = (await createSession(client)).body;
  const wrong = wrongCode((await inspectSession(client, sessionID)).code);
  client.sandbox.setFaults([
    { kind: 'status-503', nth: 1 },
    { kind: 'reset-after', nth: 2 },
  ]);
  expect((await readSession(client, sessionID, wrong)).status).toBe(503);
  await expect(readSession(client, sessionID, wrong)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect((await readSession(client, sessionID)).body).toMatchObject({ status: 'WAITING', attempt: 1 });
});

test('requests of verification are in the request log under its name', async () => {
  const client = await aClient();
  const { sessionID } = (await createSession(client)).body;
  await readSession(client, sessionID, '0000');
  expect([...client.sandbox.readRequests()]).toMatchObject([
    { area: 'verification', method: 'POST', messages: 1, status: 200 },
    { area: 'verification', method: 'GET', messages: 0, status: 200 },
  ]);
});
