import { expect, test } from 'vitest';
import { aMemoryDisk } from '../../storage/a-memory-disk.js';
import { changeCampaign, post, putCampaign } from '../campaign-and-chat.js';
import { aConversation, ask, aWebhook, openConversation, play, update, write } from '../gateway/gateway-client.js';
import { type Answered, aBatch, aClient, aContact, aMessage, type Client, errorOf } from '../sandbox-client.js';
import { createSession, inspectSession, readSession } from '../verification/verification-client.js';

/** One request that changes the state of an area, each time from a state that `prepare` made. */
interface Change {
  prepare?(client: Client): Promise<string>;
  ask(client: Client, id: string): Promise<Answered>;
  /** An error of its area; by default one with a code. */
  readonly error?: object;
}

const GATEWAY_ERROR = errorOf('gateway', 'internal_error');
const TOMORROW = () => new Date(Date.now() + 86_400_000).toISOString();

const CHANGES: Readonly<Record<string, Change>> = {
  'a batch': { ask: (client) => client.sendBatch(aBatch(3)) },
  'the cancel of a batch': {
    prepare: async (client) =>
      (await client.sendBatch(aBatch(0, { messages: [aMessage(1, { scheduled: TOMORROW() })] }))).body.batchId,
    ask: (client, id) => client.cancelBatch(id),
  },
  'a new contact': { ask: (client) => client.createContact(aContact()) },
  'a contact that is merged': {
    prepare: async (client) => (await client.createContact(aContact())).body.id,
    ask: (client) => client.createContact(aContact({ firstName: 'Anna' })),
  },
  'a code that is sent': { ask: (client) => createSession(client) },
  'a code that is checked': {
    prepare: async (client) => (await createSession(client)).body.sessionID,
    ask: async (client, id) => readSession(client, id, (await inspectSession(client, id)).code),
  },
  'the change of a campaign': {
    ask: (client) => changeCampaign(client, 101, 'PAUSED'),
    error: { message: 'Internal server error' },
  },
  'a campaign that is set': { ask: (client) => putCampaign(client, 500, { status: 9 }) },
  'a message in a chat': {
    ask: (client) => post(client, { messageRaw: 'Sale is out' }),
    error: errorOf('chat', 'request.Internal'),
  },
  'a webhook': {
    ask: (client) => ask(client, aWebhook('https://events.example/'), { path: '/chat-gateway/v1/webhooks' }),
    error: GATEWAY_ERROR,
  },
  'a conversation': { ask: (client) => ask(client, aConversation()), error: GATEWAY_ERROR },
  'the update of a conversation': {
    prepare: (client) => openConversation(client),
    ask: (client, id) => update(client, id, { user: { name: 'Bea' } }),
    error: GATEWAY_ERROR,
  },
  'a message of the customer': {
    prepare: (client) => openConversation(client),
    ask: (client, id) => write(client, id, { authorType: 'user', text: 'Hello?' }),
    error: GATEWAY_ERROR,
  },
  'an agent who joins': {
    prepare: (client) => openConversation(client),
    ask: (client, id) => play(client, id, 'join', { agentId: 'a1' }),
  },
};

/** Of a session that is not there: what an error has anew each time. */
const NO_ERROR = { errorId: undefined, timestamp: undefined };

/** All that the sandbox shows of its state, also of sessions that it had. */
async function stateOf(client: Client, known: readonly string[] = []) {
  const look = async (path: string) =>
    (await client.ask(undefined, { method: 'GET', path: `/_sandbox/${path}`, authorization: undefined })).body;
  const { sandbox } = client;
  const chat = await fetch(`${sandbox.origin}/chat/api/chat/v1/messages`, {
    headers: { 'x-api-key': sandbox.credentials.chatKey },
  });
  const entries = await client.ledger();
  const sessions = entries.flatMap((entry) => (entry.area === 'verification' ? [entry.sessionId] : []));
  const looks = [...sessions, ...known].map(async (id) => ({ id, ...(await look(`sessions/${id}`)), ...NO_ERROR }));
  return {
    entries,
    campaigns: await look('campaigns'),
    conversations: await look('conversations'),
    sessions: await Promise.all(looks),
    ids: sessions,
    chat: await chat.json(),
  };
}

test.each(Object.entries(CHANGES))(
  '%s that the disk refuses is answered 500 in the form of its area, has changed nothing, and is taken as if for the first time',
  async (_, { prepare, ask: change, error = errorOf('sms', 2000) }) => {
    const disk = aMemoryDisk();
    const options = { dataDirectory: '/data', files: disk.files, rateLimits: {} };
    const client = await aClient(options);
    const id = (await prepare?.(client)) ?? '';
    const before = await stateOf(client);
    // Of the line that is written a half stays behind.
    let refused = 0;
    disk.onOperation = (operation) => {
      if (operation.startsWith('write /data/ledger') && refused === 0) {
        refused += 1;
        disk.failAt(1, 'ENOSPC');
      }
    };
    expect(await change(client, id)).toMatchObject({ status: 500, body: error });
    expect(refused).toBe(1);
    expect(await stateOf(client)).toEqual(before);

    const other = aMemoryDisk();
    const untouched = await aClient({ ...options, files: other.files });
    const expected = await change(untouched, (await prepare?.(untouched)) ?? '');
    expect((await change(client, id)).status).toBe(expected.status);
    const after = await stateOf(client);
    expect(after).not.toEqual(before);

    await client.close();
    const next = await aClient(options);
    expect(await stateOf(next)).toEqual(after);

    // Nothing is remembered once the ledger is cleared, here and behind a restart.
    await next.sandbox.clearLedger();
    const first = await stateOf(await aClient({ rateLimits: {} }), after.ids);
    expect(await stateOf(next, after.ids)).toEqual(first);
    await next.close();
    expect(await stateOf(await aClient(options), after.ids)).toEqual(first);
  },
);

test('a ledger that the disk did not let be cleared is there as before', async () => {
  const disk = aMemoryDisk();
  const client = await aClient({ dataDirectory: '/data', files: disk.files });
  await client.createContact(aContact());
  const before = await client.ledger();
  disk.failAt(1);
  await expect(client.sandbox.clearLedger()).rejects.toThrow('the disk fails');
  expect(await client.ledger()).toEqual(before);
  expect((await client.createContact(aContact())).status).toBe(200);
});
