import type { Answered, Asked, Client } from '../sandbox-client.js';

export const MESSAGES = '/chat/api/chat/v1/messages';

/** Posts a message; a text or undefined is sent as it stands. */
export function post(client: Client, body: unknown, asked: Asked = {}): Promise<Answered> {
  return client.ask(body, { path: MESSAGES, ...keyOf(client), ...asked });
}

/** Reads messages; `query` with its question mark. */
export function read(client: Client, query = '', asked: Asked = {}): Promise<Answered> {
  return client.ask(undefined, { method: 'GET', path: MESSAGES + query, ...keyOf(client), ...asked });
}

function keyOf({ sandbox }: Client): Asked {
  return { authorization: undefined, key: sandbox.credentials.chatKey };
}
