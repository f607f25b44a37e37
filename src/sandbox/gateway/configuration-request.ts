import { isObject } from '../../domain/is-object.js';
import { type GatewayProblem, invalid, isText } from './problem.js';

/** A webhook whose form is right. */
export interface WebhookRequest {
  readonly name: string;
  readonly uri: string;
  readonly version: string;
}

/** A channel whose form is right; whether its webhook and queue exist is not checked here. */
export interface ChannelRequest {
  readonly name: string;
  readonly description: string | null;
  readonly queueId: string;
  readonly webhookId: string;
}

/** As the contract calls it, and as the service's documentation writes it on the wire. */
const WEBHOOK_VERSIONS: readonly unknown[] = ['Chat Gateway', 'Chat Gateway v1.0'];
/** Limits of the service's documentation. */
const MAX_WEBHOOK_NAME = 256;
const MAX_CHANNEL_NAME = 255;

export function readWebhookRequest(body: unknown): WebhookRequest | GatewayProblem {
  if (!isObject(body)) return MALFORMED;
  // The documentation has the field under both names.
  const { name, uri, notificationVersion, version = notificationVersion } = body;
  if (!isText(name, MAX_WEBHOOK_NAME)) return invalid(`name must be a text of 1 to ${MAX_WEBHOOK_NAME} characters`);
  if (!isWebAddress(uri)) return invalid('uri must be an absolute http or https address');
  if (!isVersion(version) || !isVersion(notificationVersion ?? version)) {
    return invalid(`version must be ${WEBHOOK_VERSIONS.join(' or ')}`);
  }
  return { name, uri, version };
}

export function readChannelRequest(body: unknown): ChannelRequest | GatewayProblem {
  if (!isObject(body)) return MALFORMED;
  const { name, description = null, routingOptions, webHookId, type } = body;
  if (!isText(name, MAX_CHANNEL_NAME)) return invalid(`name must be a text of 1 to ${MAX_CHANNEL_NAME} characters`);
  if (description !== null && typeof description !== 'string') return invalid('description must be a text');
  if (type !== undefined && type !== 'ChatAPI') return invalid('type must be ChatAPI');
  const queueId = readQueueId(routingOptions);
  if (queueId === undefined) return invalid('routingOptions must have the type queue and the id of a queue');
  if (!isText(webHookId)) return invalid('webHookId must be the id of a webhook');
  return { name, description, queueId, webhookId: webHookId };
}

/** The id in `{ type: 'queue', id }`; undefined for anything else. */
export function readQueueId(value: unknown): string | undefined {
  return isObject(value) && value.type === 'queue' && isText(value.id) ? value.id : undefined;
}

export const MALFORMED = invalid('Request body must be a JSON object', 'invalid_json_object');

function isVersion(value: unknown): value is string {
  return WEBHOOK_VERSIONS.includes(value);
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}
