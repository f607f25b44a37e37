import {
  aChannel,
  aConversation,
  CONVERSATIONS,
  openChannel,
  openConversation,
} from '../sandbox/gateway/gateway-client.js';
import { aBatch, aContact, BATCH_PATH, type Client, CONTACTS_PATH } from '../sandbox/sandbox-client.js';
import { aCreation, createSession, SESSIONS_PATH } from '../sandbox/verification/verification-client.js';
import { A_WEBHOOK } from './gateway-tables.js';

/** The five credentials of the service. */
export type CredentialName = 'API key' | 'data token' | 'action token' | 'chat key' | 'gateway key';

export interface Operation {
  /** The contract's area, and what it says of its authentication: nothing where the point is open. */
  readonly area: string;
  readonly isOpen: boolean;
  readonly name: string;
  readonly credential: CredentialName;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly body?: unknown;
  /** Makes what the operation is about, and says its path. */
  readonly prepare: (client: Client) => Promise<string>;
}

const at = (path: string) => async () => path;

const atSession = (query: string) => async (client: Client) =>
  `${SESSIONS_PATH}/${(await createSession(client)).body.sessionID}${query}`;

const atConversation = (rest: string) => async (client: Client) =>
  `${CONVERSATIONS}/${await openConversation(client)}${rest}`;

const VERIFICATION = { area: 'Verification', isOpen: false, credential: 'API key' } as const;
const CAMPAIGN = { area: 'Campaign status', isOpen: false } as const;
const CHAT = { area: 'Workplace chat', isOpen: false, credential: 'chat key' } as const;
const GATEWAY = { area: 'Chat gateway', isOpen: true, credential: 'gateway key' } as const;

const CHAT_MESSAGES = at('/chat/api/chat/v1/messages');
const UPDATE = { prepare: atConversation(''), body: { user: {} } };

/** The nine endpoints, and the operations whose path the contract does not show. */
export const OPERATIONS: readonly Operation[] = [
  { ...VERIFICATION, name: '1, create session', method: 'POST', prepare: at(SESSIONS_PATH), body: aCreation() },
  { ...VERIFICATION, name: '2, read session', method: 'GET', prepare: atSession('') },
  { ...VERIFICATION, name: '2, validate session', method: 'GET', prepare: atSession('?code=0000') },
  {
    area: 'SMS batch',
    isOpen: false,
    name: '3, send batch',
    credential: 'API key',
    method: 'POST',
    prepare: at(BATCH_PATH),
    body: aBatch(),
  },
  {
    area: 'Contacts',
    isOpen: true,
    name: '4, create contact',
    credential: 'API key',
    method: 'POST',
    prepare: at(CONTACTS_PATH),
    body: aContact(),
  },
  { ...GATEWAY, name: '5, create conversation', method: 'POST', prepare: at(CONVERSATIONS), body: aConversation() },
  {
    ...CAMPAIGN,
    name: '6, get campaign status',
    credential: 'data token',
    method: 'GET',
    prepare: at('/api/stats/campaigns/101.json'),
  },
  {
    ...CAMPAIGN,
    name: '7, change campaign status',
    credential: 'action token',
    method: 'POST',
    prepare: at('/api/tstats/campaigns/101'),
    body: { status: 'PAUSED' },
  },
  { ...CHAT, name: '8, get chat messages', method: 'GET', prepare: CHAT_MESSAGES },
  { ...CHAT, name: '9, post a chat message', method: 'POST', prepare: CHAT_MESSAGES, body: { messageRaw: 'Hi' } },
  { ...GATEWAY, name: 'create webhook', method: 'POST', prepare: at('/chat-gateway/v1/webhooks'), body: A_WEBHOOK },
  {
    ...GATEWAY,
    name: 'create channel',
    method: 'POST',
    prepare: async (client) => {
      await openChannel(client, A_WEBHOOK.uri);
      return '/chat-gateway/v1/channels';
    },
    body: aChannel('1001'),
  },
  { ...GATEWAY, ...UPDATE, name: 'update conversation (PUT)', method: 'PUT' },
  { ...GATEWAY, ...UPDATE, name: 'update conversation (PATCH)', method: 'PATCH' },
  {
    ...GATEWAY,
    name: 'send a message',
    method: 'POST',
    prepare: atConversation('/messages'),
    body: { authorType: 'user', text: 'Hello' },
  },
];
