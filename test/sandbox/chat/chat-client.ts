import { request } from 'undici';
import type { ChatEntry } from '../../../src/sandbox/chat.js';
import type { Answered, Client } from '../sandbox-client.js';

export const MESSAGES = '/chat/api/chat/v1/messages';

interface Asked {
  /** Undefined leaves the header out. */
  readonly key?: string | undefined;
  readonly contentType?: string;
}

/** Posts a message; a text or undefined is sent as it stands. */
export function post(client: Client, body: unknown, asked: Asked = {}): Promise<Answered> {
  const isRaw = body === undefined || typeof body === 'string';
  return ask(client, 'POST', MESSAGES, { ...asked, body: isRaw ? (body ?? null) : JSON.stringify(body) });
}

/** Reads messages; `query` with its question mark. */
export function read(client: Client, query = '', asked: Asked = {}): Promise<Answered> {
  return ask(client, 'GET', MESSAGES + query, { ...asked, body: null });
}

export async function entries(client: Client): Promise<ChatEntry[]> {
  return (await client.ledger()).filter((entry) => entry.area === 'chat');
}

async function ask(
  client: Client,
  method: 'GET' | 'POST',
  path: string,
  asked: Asked & { body: string | null },
): Promise<Answered> {
  const { body, contentType = 'application/json' } = asked;
  const key = 'key' in asked ? asked.key : client.sandbox.credentials.chatKey;
  const answer = await request(client.sandbox.origin + path, {
    method,
    headers: {
      accept: 'application/json',
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === null ? {} : { 'content-type': contentType }),
    },
    body,
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, body: JSON.parse(text) };
}
