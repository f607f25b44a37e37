import { escapeText } from '../command/screen.js';
import { callOnce } from '../command/single-call.js';
import { UserError } from '../domain/errors.js';
import { omitUndefined } from '../domain/is-object.js';
import { QUEUE_ASSIGNMENT } from '../domain/service-facts.js';
import { readField } from '../normalize/contact.js';
import { normalizeNumber } from '../normalize/number/number.js';
import {
  type ConversationUser,
  createChannel,
  createWebhook,
  sendMessage,
  updateConversation,
} from '../service/areas/gateway.js';
import { argument, defineBelow, type Group, single, text } from './verb.js';

const webhook = defineBelow(
  'webhook <name> <url>',
  'Create a webhook: the address that events of conversations are posted to',
  {
    args: {
      name: argument('Name of the webhook; each call creates one more, also under the same name'),
      url: { ...argument('Where a listener can be reached from the service'), coerce: readUrl },
    },
    flags: { 'api-version': text('Chat API Version (default: the one that the service asks for)'), ...single },
    examples: [['desk https://hooks.example.com/hook/… --job jobs/handoff.yaml', '']],
    run: ({ job, name, url, apiVersion: version }, context) =>
      callOnce(context, job, {
        endpoint: createWebhook,
        input: { name, url, ...omitUndefined({ version }) },
        result: ({ webhookId }) => ({
          json: { webhookId, name },
          text: `Created webhook ${escapeText(name)}: ${escapeText(webhookId)}\n`,
          reason: `made webhook ${webhookId}`,
        }),
      }),
  },
);

/** The address is not shown: it may hold the secret of a listener. */
function readUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new Error('Cannot create a webhook: its URL is not an address, expected one that starts with https://');
}

const channel = defineBelow('channel <name>', 'Create a channel, through which conversations are created', {
  args: { name: argument('Name of the channel; each call creates one more, also under the same name') },
  flags: {
    webhook: { ...text('Id of the webhook that gets its events'), demandOption: true },
    queue: { ...text('Id of the queue for conversations that name none'), demandOption: true },
    description: text('What the channel is for'),
    ...single,
  },
  examples: [['desk --webhook 7 --queue 100 --job jobs/handoff.yaml', '']],
  run: ({ job, name, webhook, queue, description }, context) =>
    callOnce(context, job, {
      endpoint: createChannel,
      input: { name, webhookId: webhook, queue, ...omitUndefined({ description }) },
      result: ({ channelId }) => ({
        json: { channelId, name },
        text: `Created channel ${escapeText(name)}: ${escapeText(channelId)}\n`,
        reason: `made channel ${channelId}`,
      }),
    }),
});

const update = defineBelow(
  'update <conversation>',
  'Change the queue or the customer of a conversation that is queued',
  {
    args: { conversation: argument('Id of the conversation') },
    flags: {
      queue: text('Id of the queue'),
      name: text("The customer's name"),
      email: { ...text("The customer's e-mail address"), coerce: readEmail },
      phone: { ...text("The customer's number, international (+6591234567)"), coerce: readPhone },
      language: text("The customer's language, such as en or zh-CN"),
      ...single,
    },
    examples: [['CONVERSATION --queue 101 --job jobs/handoff.yaml', '']],
    run: async ({ job, conversation, queue, name, email, phone, language }, context) => {
      const user: ConversationUser = omitUndefined({ name, email, phone, language });
      const isNewUser = Object.keys(user).length > 0;
      if (queue === undefined && !isNewUser) {
        throw new UserError(
          'bad-flag',
          'Cannot update a conversation: no change is given, expected at least one flag',
          { hint: 'Give --queue, --name, --email, --phone or --language.' },
        );
      }
      return callOnce(context, job, {
        endpoint: updateConversation,
        input: {
          conversationId: conversation,
          ...(queue === undefined ? {} : { assignment: { type: QUEUE_ASSIGNMENT, id: queue } }),
          ...(isNewUser ? { user } : {}),
        },
        result: ({ conversationId, state }) => ({
          json: { conversationId, conversationState: state ?? null },
          text: `The service accepted the change of conversation ${escapeText(conversationId)}${state === undefined ? '' : ` (${escapeText(state)})`}\n`,
          reason: `the service took the change of conversation ${conversationId}`,
        }),
      });
    },
  },
);

/** Reads an email address as a step of a job does. */
function readEmail(email: string): string {
  const read = readField('email', email.trim());
  if ('value' in read) return read.value;
  throw new UserError('bad-flag', `Cannot use --email: ${read.reason.replace(/^The value/, 'it')}`);
}

function readPhone(phone: string): string {
  const read = normalizeNumber(phone, undefined);
  if (read.ok) return read.e164;
  throw new UserError('bad-flag', `Cannot use --phone: ${read.reason.replace(/^The cell/, 'it')}`, {
    hint: 'Give an international number, such as +6591234567.',
  });
}

const send = defineBelow('send <conversation> <text>', 'Send a message into a conversation, as its customer', {
  args: { conversation: argument('Id of the conversation'), text: argument('Text of the message') },
  flags: single,
  examples: [['CONVERSATION "Are you there?" --job jobs/handoff.yaml', '']],
  run: ({ job, conversation, text }, context) =>
    callOnce(context, job, {
      endpoint: sendMessage,
      input: { conversationId: conversation, text },
      result: ({ conversationId, messageId }) => ({
        json: { conversationId, messageId: messageId ?? null },
        text: `Sent into conversation ${escapeText(conversationId)}${messageId === undefined ? '' : `: ${escapeText(messageId)}`}\n`,
        reason: `sent into conversation ${conversationId}`,
      }),
    }),
});

/** `volley gateway webhook|channel|update|send`. What creates or sends is not idempotent: repeated, it does so once more. */
export const gateway: Group = [webhook, channel, update, send];
