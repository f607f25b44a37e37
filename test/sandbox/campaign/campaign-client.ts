import type { Answered, Client } from '../sandbox-client.js';

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
