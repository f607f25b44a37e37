import { aConversation, aWebhook, play, update, VERSION, write } from '../sandbox/gateway/gateway-client.js';
import type { Answered, Client } from '../sandbox/sandbox-client.js';

const EVENTS_URL = 'https://bot.example/events';

/** A conversation in which every field of the contract has a value. */
export const WHOLE = aConversation({
  user: {
    language: 'en',
    name: 'Ann Lee',
    email: 'ann@shop.example',
    phone: '+6590000001',
    additionalProperties: [{ key: 'order', value: '4711' }],
  },
  history: {
    messages: [
      { authorType: 'user', text: 'My parcel is lost' },
      { authorType: 'bot', text: 'I connect you' },
    ],
  },
});

/** "Conversation (creation request body, chat gateway)": field and type. */
export const CONVERSATION_FIELDS = [
  ['channelId', 'a string'],
  ['assignment', 'an object'],
  ['assignment.type', 'a string'],
  ['assignment.id', 'a string'],
  ['user', 'an object'],
  ['user.language', 'a string'],
  ['user.name', 'a string'],
  ['user.email', 'a string'],
  ['user.phone', 'a string'],
  ['user.additionalProperties', 'an array'],
  ['user.additionalProperties.0', 'an object'],
  ['user.additionalProperties.0.key', 'a string'],
  ['user.additionalProperties.0.value', 'a string'],
  ['history', 'an object'],
  ['history.messages', 'an array'],
  ['history.messages.0', 'an object'],
  ['history.messages.0.authorType', 'a string'],
  ['history.messages.0.text', 'a string'],
] as const;

/** Field, value, and whether it is one of the contract's. */
export const CONVERSATION_VALUES = [
  ['assignment.type', 'queue', true],
  ['assignment.type', 'agent', false],
  ['assignment.type', 'QUEUE', false],
  ['assignment.id', '102', true],
  ['assignment.id', '999', false],
  ['history.messages.0.authorType', 'user', true],
  ['history.messages.0.authorType', 'bot', true],
  ['history.messages.0.authorType', 'agent', false],
  ['history.messages.0.authorType', 'Bot', false],
  ['user.additionalProperties.0', { key: 'shop', value: 'Orchard' }, true],
  ['user.additionalProperties.0', { key: 'shop' }, false],
  ['user.additionalProperties.0', { value: 'Orchard' }, false],
  ['user.additionalProperties.0', {}, false],
  ['history.messages.1', { authorType: 'bot', attachments: [{ anything: 1 }] }, true],
  ['history.messages.1', { authorType: 'bot', cards: [{ anything: 1 }] }, true],
] as const;

/** "Webhook and channel": the contract's field, its name on the wire, a value, and values that it can't have. */
export const WEBHOOK_FIELDS = [
  ['name', 'name', 'events', [undefined, 5, null]],
  ['URL', 'uri', EVENTS_URL, [undefined, 5, null, 'bot.example', 'ftp://bot.example/']],
  ['Chat API Version', 'version', VERSION, [undefined, 1, null, '', 'v1.0', 'Chat API v1.0']],
] as const;

export const CHANNEL_FIELDS = [
  ['name', 'name', 'bot', [undefined, 5, null]],
  ['description', 'description', 'The bot of the shop', [5, {}]],
  ['webhook', 'webHookId', '1001', [undefined, 5, null, '9999']],
  ['queue', 'routingOptions', { type: 'queue', id: '102' }, [undefined, '100', null, { type: 'queue', id: '999' }]],
] as const;

export const A_WEBHOOK = aWebhook(EVENTS_URL);

type Act = (client: Client, conversationId: string) => Promise<Answered>;

const changeUser: Act = (client, id) => update(client, id, { user: { name: 'Anna' } });
const changeQueue: Act = (client, id) => update(client, id, { assignment: { type: 'queue', id: '102' } });
export const agentJoins: Act = (client, id) => play(client, id, 'join', { agentId: 'a7', agentName: 'Kim' });
export const agentTypes: Act = (client, id) => play(client, id, 'type');
export const agentWrites: Act = (client, id) => play(client, id, 'message', { text: 'How can I help?' });
export const customerWrites: Act = (client, id) => write(client, id, { authorType: 'user', text: 'Hello' });

interface Transition {
  readonly from: string;
  readonly trigger: string;
  readonly to: string;
  readonly event: string;
  /** What brings a queued conversation into the state before. */
  readonly before: readonly Act[];
  readonly act: Act;
}

const WITH_AGENT = { from: 'with agent', to: 'with agent', before: [agentJoins] };

/** "Conversation (chat gateway)" of "States and transitions", after the creation. */
export const TRANSITIONS: readonly Transition[] = [
  { from: 'queued', trigger: 'update of the user', to: 'queued', event: 'none', before: [], act: changeUser },
  { from: 'queued', trigger: 'update of the queue', to: 'queued', event: 'none', before: [], act: changeQueue },
  { from: 'queued', trigger: 'second update', to: 'queued', event: 'none', before: [changeUser], act: changeQueue },
  {
    from: 'queued',
    trigger: 'agent picks it up',
    to: 'with agent',
    event: 'AGENT_JOINED',
    before: [],
    act: agentJoins,
  },
  { ...WITH_AGENT, trigger: 'agent types', event: 'ACTIVITY', act: agentTypes },
  { ...WITH_AGENT, trigger: 'agent sends a message', event: 'MESSAGE', act: agentWrites },
  { ...WITH_AGENT, trigger: 'customer sends a message', event: 'MESSAGE', act: customerWrites },
];
