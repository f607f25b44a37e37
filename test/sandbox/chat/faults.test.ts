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
