import { printResult } from '../command/print.js';
import { type CommandEnd, type LoggedTerminal, logCommand } from '../command/runner.js';
import { escapeText, type Terminal } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import { QUEUE_ASSIGNMENT } from '../domain/service-facts.js';
import { omitUndefined } from '../job/omit-undefined.js';
import { EXIT } from '../report/exit-code.js';
import {
  type ConversationUser,
  createChannel,
  createWebhook,
  sendMessage,
  updateConversation,
} from '../service/areas/gateway.js';
import { callService } from './support/call-service.js';
import { refuseBlank } from './support/first-pause.js';

interface GatewayFlags {
  readonly job: string;
  readonly json: boolean | undefined;
}

export interface WebhookFlags extends GatewayFlags {
  readonly name: string;
  readonly url: string;
  /** The contract's "Chat API Version"; undefined: the one that it asks for. */
  readonly version: string | undefined;
}

/** `volley gateway webhook NAME URL`: creates a webhook; not idempotent: repeated, it creates a second one of the same name. */
export function makeWebhook(flags: WebhookFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'gateway webhook', file: flags.job }, (name) =>
    webhookNamed(flags, { terminal, name }),
  );
}

async function webhookNamed(flags: WebhookFlags, { terminal, name: nameFields }: LoggedTerminal): Promise<CommandEnd> {
  const { name, url, version } = flags;
  refuseBlank('create a webhook', { 'its name': name, '--api-version': version });
  assertUrl(url);
  const { webhookId } = await callService(terminal, { ...flags, nameFields, area: 'gateway' }, ({ call }) =>
    call(createWebhook, { name, url, ...omitUndefined({ version }) }),
  );
  const text = `Created webhook ${escapeText(name)}: ${escapeText(webhookId)}\n`;
  await printResult(terminal, flags, { json: { webhookId, name }, text });
  return { exitCode: EXIT.ok, reason: `made webhook ${webhookId}` };
}

export interface ChannelFlags extends GatewayFlags {
  readonly name: string;
  /** Id of a webhook that was made before. */
  readonly webhook: string;
  /** Id of the queue for conversations that name none. */
  readonly queue: string;
  readonly description: string | undefined;
}

/** `volley gateway channel NAME`: creates a channel on a webhook; not idempotent. */
export function makeChannel(flags: ChannelFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'gateway channel', file: flags.job }, (name) =>
    channelNamed(flags, { terminal, name }),
  );
}

async function channelNamed(flags: ChannelFlags, { terminal, name: nameFields }: LoggedTerminal): Promise<CommandEnd> {
  const { name, webhook, queue, description } = flags;
  refuseBlank('create a channel', { 'its name': name, '--webhook': webhook, '--queue': queue });
  const { channelId } = await callService(terminal, { ...flags, nameFields, area: 'gateway' }, ({ call }) =>
    call(createChannel, { name, webhookId: webhook, queue, ...omitUndefined({ description }) }),
  );
  const text = `Created channel ${escapeText(name)}: ${escapeText(channelId)}\n`;
  await printResult(terminal, flags, { json: { channelId, name }, text });
  return { exitCode: EXIT.ok, reason: `made channel ${channelId}` };
}

export interface UpdateFlags extends GatewayFlags {
  readonly conversation: string;
  /** Id of the queue. */
  readonly queue: string | undefined;
  readonly name: string | undefined;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly language: string | undefined;
}

/** `volley gateway update CONVERSATION`: changes queue or customer of a queued conversation; refuses an empty change. */
export function changeConversation(flags: UpdateFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'gateway update', file: flags.job }, (name) =>
    updateNamed(flags, { terminal, name }),
  );
}

async function updateNamed(flags: UpdateFlags, { terminal, name: nameFields }: LoggedTerminal): Promise<CommandEnd> {
  const { conversation, queue, name, email, phone, language } = flags;
  refuseBlank('update a conversation', { '--queue': queue });
  const user: ConversationUser = omitUndefined({ name, email, phone, language });
  if (queue === undefined && Object.keys(user).length === 0) {
    throw new UserError('bad-flag', 'Cannot update a conversation: no change is given, expected at least one flag', {
      hint: 'Give --queue, --name, --email, --phone or --language.',
    });
  }
  const { conversationId, state } = await callService(terminal, { ...flags, nameFields, area: 'gateway' }, ({ call }) =>
    call(updateConversation, {
      conversationId: conversation,
      ...(queue === undefined ? {} : { assignment: { type: QUEUE_ASSIGNMENT, id: queue } }),
      ...(Object.keys(user).length === 0 ? {} : { user }),
    }),
  );
  const told = state === undefined ? '' : ` (${escapeText(state)})`;
  const text = `The service accepted the change of conversation ${escapeText(conversationId)}${told}\n`;
  await printResult(terminal, flags, { json: { conversationId, conversationState: state ?? null }, text });
  return { exitCode: EXIT.ok, reason: `the service took the change of conversation ${conversationId}` };
}

export interface SendFlags extends GatewayFlags {
  readonly conversation: string;
  readonly text: string;
}

/** `volley gateway send CONVERSATION TEXT`: sends a message as the customer, once. */
export function sendToConversation(flags: SendFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'gateway send', file: flags.job }, (name) =>
    sendNamed(flags, { terminal, name }),
  );
}

async function sendNamed(flags: SendFlags, { terminal, name: nameFields }: LoggedTerminal): Promise<CommandEnd> {
  const { conversation, text } = flags;
  refuseBlank('send a message', { 'the text': text });
  const { conversationId, messageId } = await callService(
    terminal,
    { ...flags, nameFields, area: 'gateway' },
    ({ call }) => call(sendMessage, { conversationId: conversation, text }),
  );
  const id = messageId === undefined ? '' : `: ${escapeText(messageId)}`;
  const said = `Sent into conversation ${escapeText(conversationId)}${id}\n`;
  await printResult(terminal, flags, { json: { conversationId, messageId: messageId ?? null }, text: said });
  return { exitCode: EXIT.ok, reason: `sent into conversation ${conversationId}` };
}

function assertUrl(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
  // The address is not shown: it may hold the secret of a listener.
  throw new UserError(
    'bad-flag',
    'Cannot create a webhook: its URL is not an address, expected one that starts with https://',
  );
}
