import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { entries, post, read } from './chat-client.js';

const HI = { messageRaw: 'Hi' };

test('partial leaves the id out of a message that was posted, and out of those that are read', async () => {
  const client = await aClient({}, { kind: 'partial', area: 'chat' });
  expect(Object.keys((await post(client, HI)).body)).toEqual(['authorUser', 'parsed', 'timestamp']);
  expect((await read(client)).body[0]).not.toHaveProperty('id');
  expect(await entries(client)).toHaveLength(1);
});

test('foreign gives an earlier message, or one that no one posted', async () => {
  const client = await aClient({}, { kind: 'foreign', area: 'chat' });
  expect((await post(client, HI)).body.parsed).not.toBe('Hi');
  const second = await post(client, { messageRaw: 'Hello' });
  const [first] = await entries(client);
  expect([second.body.id, second.body.parsed]).toEqual([first?.messageId, 'Hi']);
});

test('foreign gives the messages of an earlier read', async () => {
  const client = await aClient();
  await read(client);
  await post(client, HI);
  client.sandbox.setFaults([{ kind: 'foreign', area: 'chat' }]);
  expect((await read(client)).body).toEqual([]);
});

test.each([
  ['reject-rows', 400],
  ['internal-rows', 500],
] as const)('%s refuses a message with %i and a fault', async (kind, status) => {
  const client = await aClient({}, { kind });
  const answer = await post(client, HI);
  expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['fault']]);
  expect(await entries(client)).toEqual([]);
});

test.each([400, 401, 403, 404, 429, 500])('status-%i has the form of the chat', async (status) => {
  const client = await aClient({}, { kind: `status-${status}`, area: 'chat' });
  const answer = await post(client, HI);
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({
    fault: { faultstring: expect.any(String), detail: { errorcode: expect.any(String) } },
  });
});

test('reset-after loses the answer of a message that was posted', async () => {
  const client = await aClient({}, { kind: 'reset-after', area: 'chat' });
  await expect(post(client, HI)).rejects.toThrow();
  expect(await entries(client)).toHaveLength(1);
});
