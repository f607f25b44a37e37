import type { Answered, Asked, Client } from './sandbox-client.js';

// Calls to campaigns and to the workplace chat.

export function basic(client: Client, token: 'dataToken' | 'actionToken'): string {
  const { username, [token]: password } = client.sandbox.credentials.campaign;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

export function readCampaign(client: Client, id: number | string): Promise<Answered> {
  const authorization = basic(client, 'dataToken');
  return client.ask(undefined, { method: 'GET', path: `/api/stats/campaigns/${id}.json`, authorization });
}

export function changeCampaign(client: Client, id: number | string, status: unknown): Promise<Answered> {
  const authorization = basic(client, 'actionToken');
  return client.ask({ status }, { path: `/api/tstats/campaigns/${id}`, authorization });
}

/** Sets fields of a campaign through the sandbox itself. */
export function putCampaign(client: Client, id: number | string, fields: unknown): Promise<Answered> {
  return client.ask(fields, { method: 'PUT', path: `/_sandbox/campaigns/${id}`, authorization: undefined });
}

export async function statusOf(client: Client, id: number): Promise<number> {
  return (await readCampaign(client, id)).body.campaign.status;
}

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
