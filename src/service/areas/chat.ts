import { CHAT_TICKS_PER_MS } from '../../domain/documented.js';
import { isObject } from '../../domain/is-object.js';
import type { ServiceAddresses } from '../../job/job.js';
import { type Response, readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson, getRequest, jsonRequest } from '../endpoint.js';
import { readInteger, readObjectOrNothing, readText } from '../json-value.js';

export interface ReadMessagesInput {
  /** 30 where not given; its bounds are not documented. */
  readonly pageSize?: number;
  /** Without it the room that the key belongs to. */
  readonly room?: string;
}

export interface PostMessageInput {
  /** The text as it is written. */
  readonly messageRaw: string;
  /** Created if there is none of this name; without it the room that the key belongs to. */
  readonly room?: string;
}

/** Contract: "Chat message". Missing fields are ''. */
export interface ChatMessage {
  readonly id: string;
  /** As displayed. */
  readonly text: string;
  readonly author: { readonly id: string; readonly name: string; readonly email: string; readonly avatarUrl: string };
  /** ISO 8601 UTC; undefined without a timestamp. */
  readonly at: string | undefined;
  /** As the service wrote it: microseconds since 1970, whose 16 digits a number holds exactly. */
  readonly timestamp: number | undefined;
}

export interface PostedMessage {
  /** The text as displayed; undefined where the answer does not repeat it. */
  readonly parsed: string | undefined;
}

/** Endpoint 8. Oldest first, whatever order the service gave. */
export const readMessages: Endpoint<ReadMessagesInput, readonly ChatMessage[]> = {
  name: 'read chat messages',
  area: 'chat',
  isRepeatable: () => true,
  request: (service, { pageSize, room }) => {
    const { base, path } = messagesAddress(service);
    const query = [
      ...(pageSize === undefined ? [] : [`pageSize=${pageSize}`]),
      ...(room === undefined ? [] : [`room=${encodeURIComponent(room)}`]),
    ].join('&');
    return getRequest({ base, path: query === '' ? path : `${path}?${query}` });
  },
  read: (response) => readMessagesBody(readJsonBody(response)),
};

/** Endpoint 9. Not idempotent: repeated, the room reads it twice. */
export const postMessage: Endpoint<PostMessageInput, PostedMessage> = {
  name: 'post a chat message',
  area: 'chat',
  isRepeatable: () => false,
  request: (service, { messageRaw, room }) => jsonRequest(messagesAddress(service), encodeJson({ messageRaw, room })),
  read: readPostedMessage,
};

/**
 * Undefined for a body that is not a list; entries that are not messages are dropped. Messages without a time stand at
 * the end.
 */
export function readMessagesBody(body: unknown): readonly ChatMessage[] | undefined {
  if (!Array.isArray(body)) return undefined;
  return body
    .filter(isObject)
    .map(readMessage)
    .sort((one, other) => (one.timestamp ?? Number.MAX_VALUE) - (other.timestamp ?? Number.MAX_VALUE));
}

function readMessage(message: Record<string, unknown>): ChatMessage {
  const author = isObject(message.authorUser) ? message.authorUser : {};
  const timestamp = readInteger(message.timestamp);
  return {
    id: readText(message.id) ?? '',
    text: readText(message.parsed) ?? '',
    author: {
      id: readText(author.id) ?? '',
      name: readText(author.name) ?? '',
      email: readText(author.email) ?? '',
      avatarUrl: readText(author.avatarUrl) ?? '',
    },
    at: timestamp === undefined ? undefined : new Date(Math.floor(timestamp / CHAT_TICKS_PER_MS)).toISOString(),
    timestamp,
  };
}

/** The contract does not show the body: any but a page or a fault will do. */
function readPostedMessage(response: Response): PostedMessage | undefined {
  const body = readObjectOrNothing(response);
  return body === undefined || 'fault' in body ? undefined : { parsed: readText(body.parsed) };
}

function messagesAddress({ bases }: ServiceAddresses): { base: string; path: string } {
  return { base: bases.chat, path: '/chat/api/chat/v1/messages' };
}
