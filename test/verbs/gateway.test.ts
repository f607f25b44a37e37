import { expect, test } from 'vitest';
import { aSandboxCaller } from '../command/a-single-call.js';
import { openConversation } from '../sandbox/gateway/gateway-client.js';
import { Client } from '../sandbox/sandbox-client.js';
import { DEAF_URL } from '../sandbox/webhook/receiver.js';

async function aGateway() {
  const { run, requests, ...caller } = await aSandboxCaller();
  return {
    ...caller,
    run: (...words: string[]) => run('gateway', ...words),
    requests: () => requests().map(({ method, path, status }) => `${method} ${path} ${status}`),
  };
}

test('gateway makes a webhook and a channel, moves a queued conversation, and says something in it', async () => {
  const { run, json, sandbox, requests } = await aGateway();
  expect(await run('webhook', 'desk', DEAF_URL)).toBe(0);
  const { webhookId } = json();
  expect(await run('channel', 'desk', '--webhook', webhookId, '--queue', '100', '--description', 'Help')).toBe(0);
  const { channelId, name } = json();
  expect([name, channelId]).toEqual(['desk', expect.stringMatching(/./)]);
  const id = await openConversation(new Client(sandbox), { channelId });
  expect(await run('update', id, '--queue', '101', '--email', 'ann@example.com', '--phone', '+65 9123 4567')).toBe(0);
  expect(json()).toMatchObject({ conversationId: id });
  expect(await run('send', id, 'Are you there?')).toBe(0);
  expect(json()).toMatchObject({ conversationId: id });
  expect(requests()).toEqual([
    expect.stringMatching(/^POST \/chat-gateway\/v1\/webhooks 20\d$/),
    expect.stringMatching(/^POST \/chat-gateway\/v1\/channels 20\d$/),
    expect.stringMatching(/^POST \/chat-gateway\/v1\/conversations 20\d$/),
    expect.stringMatching(new RegExp(`^PATCH /chat-gateway/v1/conversations/${id} 20\\d$`)),
    expect.stringMatching(new RegExp(`^POST /chat-gateway/v1/conversations/${id}/messages 20\\d$`)),
  ]);
});

test('gateway is refused for a conversation that no one knows, whose id is sent as it is written', async () => {
  const { run, requests } = await aGateway();
  await expect(run('update', '0042', '--queue', '101')).rejects.toMatchObject({ code: 'refused' });
  await expect(run('send', '0042', 'Hello')).rejects.toMatchObject({ code: 'refused' });
  const expected = ['/chat-gateway/v1/conversations/0042', '/chat-gateway/v1/conversations/0042/messages'];
  expect(requests().map((request) => request.split(' ')[1])).toEqual(expected);
});

test.each([
  [['webhook', 'desk', 'hooks.example.com/hook/s3cret'], 'its URL is not an address'],
  [['update', '5'], 'no change is given'],
  [['update', '5', '--email', 'ann@'], 'Cannot use --email: it is not an email address'],
  [['update', '5', '--phone', '91234567'], 'Cannot use --phone: '],
  [['update', '5', '--phone', '+65912345'], 'Cannot use --phone: '],
  [['send', '5', ' '], 'Cannot use <text>: it is empty'],
])('gateway refuses %j, and calls no one', async (words, message) => {
  const { run, requests } = await aGateway();
  const error = await run(...words).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'bad-flag', message: expect.stringContaining(message) });
  expect(error.message).not.toContain('s3cret');
  expect(requests()).toEqual([]);
});

test('gateway makes a webhook of the version that is asked for, and says in plain words what was made', async () => {
  const { run, said, sandbox } = await aGateway();
  await run('webhook', 'desk', DEAF_URL, '--no-json');
  await run('webhook', 'desk', DEAF_URL, '--no-json', '--api-version', 'Chat Gateway v1.0');
  expect(said.stdout).toMatch(/^(Created webhook desk: \S+\n){2}$/);
  const made = ['Chat Gateway', 'Chat Gateway v1.0'].map((version) => ({ version }));
  expect(await new Client(sandbox).entries('gateway')).toMatchObject(made);
});
