import { CHANNEL_TYPE, QUEUE_ASSIGNMENT, WEBHOOK_VERSION, WEBHOOK_VERSION_FIELDS } from '../../domain/documented.js';
import { isObject } from '../../domain/is-object.js';
import { type Response, readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson } from '../endpoint.js';
import { readId, readText } from '../json-value.js';
import { gatewayRequest } from './gateway.js';

/** Where the gateway sends the events of a channel. Contract: "Webhook and channel (configuration objects)". */
export interface WebhookInput {
  readonly name: string;
  /** Where the client application listens. */
  readonly url: string;
  /** The contract's "Chat API Version"; defaults to WEBHOOK_VERSION. */
  readonly version?: string | undefined;
}

export interface CreatedWebhook {
  readonly webhookId: string;
}

export interface ChannelInput {
  readonly name: string;
  readonly description?: string;
  /** Of a webhook that was made before. */
  readonly webhookId: string;
  /** Id of the queue for conversations that name none. */
  readonly queue: string;
}

export interface CreatedChannel {
  readonly channelId: string;
}

/** Not idempotent: repeated, it creates a second webhook of the same name. */
export const createWebhook: Endpoint<WebhookInput, CreatedWebhook> = {
  name: 'create a webhook',
  area: 'gateway',
  isRepeatable: () => false,
  request: (service, { name, url, version = WEBHOOK_VERSION }) =>
    gatewayRequest(
      { service, path: service.gatewayPaths.webhooks },
      encodeJson({ name, uri: url, ...Object.fromEntries(WEBHOOK_VERSION_FIELDS.map((field) => [field, version])) }),
    ),
  read: (response, { name }) => {
    const webhookId = readNewId(response, { name, field: 'webHookId' });
    return webhookId === undefined ? undefined : { webhookId };
  },
};

/** Not idempotent: repeated, it creates a second channel of the same name. */
export const createChannel: Endpoint<ChannelInput, CreatedChannel> = {
  name: 'create a channel',
  area: 'gateway',
  isRepeatable: () => false,
  request: (service, { name, description, webhookId, queue }) =>
    gatewayRequest(
      { service, path: service.gatewayPaths.channels },
      encodeJson({
        name,
        description,
        type: CHANNEL_TYPE,
        webHookId: webhookId,
        routingOptions: { type: QUEUE_ASSIGNMENT, id: queue },
      }),
    ),
  read: (response, { name }) => {
    const channelId = readNewId(response, { name, field: 'channelId' });
    return channelId === undefined ? undefined : { channelId };
  },
};

/**
 * Undefined for an answer without an id, or with another name. An `id` counts only beside the name that was sent,
 * which the documentation requires in the answer: stray answers about other things have an id too.
 */
function readNewId(response: Response, { name, field }: { name: string; field: string }): string | undefined {
  const body = readJsonBody(response);
  if (!isObject(body)) return undefined;
  const named = readText(body.name);
  if (named === name) return readId(body.id ?? body[field]);
  return named === undefined ? readId(body[field]) : undefined;
}
