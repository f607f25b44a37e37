import { isObject } from '../../domain/is-object.js';
import { CHAT_TICKS_PER_MS, ENDPOINTS } from '../../domain/service-facts.js';
import { readInteger, readJsonBody, readObjectOrNothing, readText } from '../answer.js';
import { defineEndpoint, type OutputOf } from '../endpoint.js';

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

/** Oldest first, whatever order the service gave. */
export const readMessages = defineEndpoint(
  ENDPOINTS.readMessages,
  ({ pageSize, room }: ReadMessagesInput = {}) => ({ query: { pageSize, room } }),
  (response) => readMessagesBody(readJsonBody(response)),
);

export type PostedMessage = OutputOf<typeof postMessage>;

export const postMessage = defineEndpoint(
  ENDPOINTS.postMessage,
  ({ messageRaw, room }: PostMessageInput) => ({ body: { messageRaw, room } }),
  // The contract does not show the body: any but a page or a fault will do.
  (response) => {
    const body = readObjectOrNothing(response);
    if (body === undefined || 'fault' in body) return undefined;
    return {
      /** The text as displayed; undefined where the answer does not repeat it. */
      parsed: readText(body.parsed),
    };
  },
);

/**
 * Reads messages in the order of their times; those without a time stand at the end, and entries that are not messages are dropped.
 * Undefined for a body that is not a list.
 */
function readMessagesBody(body: unknown): readonly ChatMessage[] | undefined {
  if (!Array.isArray(body)) return undefined;
  return body
    .filter(isObject)
    .map(readMessage)
    .sort((one, other) => (one.timestamp ?? Number.MAX_VALUE) - (other.timestamp ?? Number.MAX_VALUE));
}

/** Contract: "Chat message". Missing fields are ''. */
export type ChatMessage = Readonly<ReturnType<typeof readMessage>>;

function readMessage(message: Record<string, unknown>) {
  const author = isObject(message.authorUser) ? message.authorUser : {};
  const timestamp = readInteger(message.timestamp);
  return {
    id: readText(message.id) ?? '',
    /** As displayed. */
    text: readText(message.parsed) ?? '',
    author: {
      id: readText(author.id) ?? '',
      name: readText(author.name) ?? '',
      email: readText(author.email) ?? '',
      avatarUrl: readText(author.avatarUrl) ?? '',
    },
    /** ISO 8601 UTC; undefined without a timestamp. */
    at: timestamp === undefined ? undefined : new Date(Math.floor(timestamp / CHAT_TICKS_PER_MS)).toISOString(),
    /** As the service wrote it: microseconds since 1970, whose 16 digits a number holds exactly. */
    timestamp,
  };
}
