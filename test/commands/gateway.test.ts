import { describe, expect, test } from 'vitest';
import {
  changeConversation,
  makeChannel,
  makeWebhook,
  sendToConversation,
  type UpdateFlags,
} from '../../src/commands/gateway.js';
import { aCaller, aSandbox, aService } from './a-single-call.js';

const NOTHING = { queue: undefined, name: undefined, email: undefined, phone: undefined, language: undefined };
const URL_OF_NO_SERVER = 'http://127.0.0.1:9/hook';

async function aGateway() {
  const sandbox = await aSandbox();
  const caller = aCaller(aService(sandbox.origin));
  const { flags, terminal, json } = caller;
  const aChannel = async () => {
    await makeWebhook({ name: 'desk', url: URL_OF_NO_SERVER, version: undefined, ...flags }, terminal);
    const { webhookId } = json();
    await makeChannel({ name: 'desk', webhook: webhookId, queue: '100', description: 'Help', ...flags }, terminal);
    return json().channelId as string;
  };
  return {
    ...caller,
    sandbox,
    aChannel,
    aConversation: async () => {
      const answer = await fetch(`${sandbox.origin}/chat-gateway/v1/conversations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': sandbox.credentials.gatewayKey },
        body: JSON.stringify({ channelId: await aChannel(), user: { name: 'Ann' } }),
      });
      return ((await answer.json()) as { conversationId: string }).conversationId;
    },
    update: (conversation: string, changes: Partial<UpdateFlags>) =>
      changeConversation({ conversation, ...NOTHING, ...flags, ...changes }, terminal),
    send: (conversation: string, text: string) => sendToConversation({ conversation, text, ...flags }, terminal),
    requests: () => [...sandbox.readRequests()].map(({ method, path, status }) => `${method} ${path} ${status}`),
  };
}

describe('volley gateway', () => {
  test('makes a webhook and a channel on it, and prints their ids', async () => {
    const { aChannel, said, requests } = await aGateway();
    await aChannel();
    const [webhook, channel] = said.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(webhook).toMatchObject({ webhookId: expect.stringMatching(/./), name: 'desk' });
    expect(channel).toMatchObject({ channelId: expect.stringMatching(/./), name: 'desk' });
    expect(requests()).toEqual([
      expect.stringMatching(/^POST \/chat-gateway\/v1\/webhooks 20\d$/),
      expect.stringMatching(/^POST \/chat-gateway\/v1\/channels 20\d$/),
    ]);
  });

  test('moves a queued conversation, changes its customer, and says something in it', async () => {
    const { aConversation, update, send, requests, json } = await aGateway();
    const id = await aConversation();
    expect(await update(id, { queue: '101', email: 'ann@example.com' })).toBe(0);
    expect(json()).toMatchObject({ conversationId: id });
    expect(await send(id, 'Are you there?')).toBe(0);
    expect(json()).toMatchObject({ conversationId: id });
    expect(requests().slice(3)).toEqual([
      expect.stringMatching(new RegExp(`^PATCH /chat-gateway/v1/conversations/${id} 20\\d$`)),
      expect.stringMatching(new RegExp(`^POST /chat-gateway/v1/conversations/${id}/messages 20\\d$`)),
    ]);
  });

  test('is refused for a conversation that no one knows', async () => {
    const { update, send } = await aGateway();
    await expect(update('5', { queue: '101' })).rejects.toMatchObject({ name: 'ServiceError', code: 'refused' });
    await expect(send('5', 'Hello')).rejects.toMatchObject({ name: 'ServiceError', code: 'refused' });
  });

  test('refuses what says nothing, and calls no one', async () => {
    const { update, send, flags, terminal, requests } = await aGateway();
    const url = 'hooks.example.com/hook/s3cret';
    await expect(update('5', {})).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
    await expect(send('5', ' ')).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
    await expect(makeWebhook({ name: 'desk', url, version: undefined, ...flags }, terminal)).rejects.toMatchObject({
      code: 'bad-flag',
      message: expect.not.stringContaining('s3cret'),
    });
    expect(requests()).toEqual([]);
  });

  test('refuses empty names and ids, and calls no one', async () => {
    const { update, flags, terminal, requests } = await aGateway();
    const channel = { name: 'desk', webhook: '7', queue: '100', description: undefined, ...flags };
    for (const [named, calling] of [
      ['its name', makeWebhook({ name: '', url: URL_OF_NO_SERVER, version: undefined, ...flags }, terminal)],
      ['its name', makeChannel({ ...channel, name: ' ' }, terminal)],
      ['--webhook', makeChannel({ ...channel, webhook: '' }, terminal)],
      ['--queue', makeChannel({ ...channel, queue: '' }, terminal)],
      ['--queue', update('5', { queue: '' })],
    ] as const) {
      await expect(calling).rejects.toMatchObject({
        code: 'bad-flag',
        message: expect.stringContaining(`${named} is empty`),
      });
    }
    expect(requests()).toEqual([]);
  });

  test('makes a webhook of the version that is asked for', async () => {
    const { sandbox, flags, terminal } = await aGateway();
    for (const version of [undefined, 'Chat Gateway v1.0']) {
      await makeWebhook({ name: 'desk', url: URL_OF_NO_SERVER, version, ...flags }, terminal);
    }
    const versions: unknown[] = [];
    for await (const entry of sandbox.readLedger()) versions.push('version' in entry && entry.version);
    expect(versions).toEqual(['Chat Gateway', 'Chat Gateway v1.0']);
  });

  test('says in plain words on a terminal what was made', async () => {
    const { said, flags, terminal } = await aGateway();
    await makeWebhook({ name: 'desk', url: URL_OF_NO_SERVER, version: undefined, ...flags, json: false }, terminal);
    expect(said.stdout).toMatch(/^Created webhook desk: \S+\n$/);
  });
});
