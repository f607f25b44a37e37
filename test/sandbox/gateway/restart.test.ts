import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { aReceiver } from '../webhook/receiver.js';
import { aChannel, ask, look, openChannel, openConversation, play, settle, update, write } from './gateway-client.js';

test('sandbox with a data directory resumes after a restart with its channels and conversations, and repeats no event', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'volley-sandbox-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const receiver = await aReceiver();
  const first = await aClient({ dataDirectory });
  const channelId = await openChannel(first, receiver.url());
  const ids = [await openConversation(first, { channelId }), await openConversation(first, { channelId })];
  const [queued = '', joined = ''] = ids;
  await update(first, queued, { user: { name: 'Anna' }, assignment: { type: 'queue', id: '102' } }, 'PATCH');
  await play(first, joined, 'join', { agentId: 'a7' });
  await play(first, joined, 'message', { text: 'Hi' });
  await write(first, joined, { authorType: 'user', text: 'Hello' });
  const before = (await look(first, `conversations/${queued}`)).body;
  const beforeJoined = (await look(first, `conversations/${joined}`)).body;
  await settle(first);
  const told = receiver.received.length;
  await first.close();

  const second = await aClient({ dataDirectory });
  expect((await look(second, `conversations/${queued}`)).body).toEqual(before);
  expect((await look(second, `conversations/${joined}`)).body).toEqual(beforeJoined);
  expect(before).toMatchObject({ queueId: '102', user: { name: 'Anna', phone: '+6590000001' } });
  await play(second, queued, 'join');
  expect((await update(second, joined, { user: {} })).status).toBe(409);
  const other = await ask(second, aChannel('1001'), { path: '/chat-gateway/v1/channels' });
  expect(other.status).toBe(200);
  expect(other.body.id).not.toBe(channelId);
  await settle(second);
  expect(receiver.received.slice(told).map(({ body }) => [body.eventType, body.conversationId])).toEqual([
    ['AGENT_JOINED', queued],
  ]);
});
