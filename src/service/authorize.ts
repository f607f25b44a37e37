import type { Area } from '../domain/areas.js';
import { API_KEY_HEADER } from '../domain/service-facts.js';
import type { WireRequest } from './endpoint.js';

/** The secrets of each area; an area without them sends no authentication. */
export interface ServiceSecrets extends Readonly<Partial<Record<Exclude<Area, 'campaign'>, string | undefined>>> {
  readonly campaign?:
    | {
        readonly username: string;
        /** Data Request Token: reads. */
        readonly dataToken: string;
        /** Action Request Token: changes. */
        readonly actionToken?: string | undefined;
      }
    | undefined;
}

/** The headers that authenticate a call. */
export type Authorize = (area: Area, method: WireRequest['method']) => Readonly<Record<string, string>>;

/** Contract, "Authentication": Bearer, Basic with a token for reads and one for changes, or `x-api-key`. */
export function createAuthorize(secrets: ServiceSecrets): Authorize {
  return (area, method) => {
    if (area === 'campaign') {
      const { username = '', dataToken, actionToken } = secrets.campaign ?? {};
      const token = method === 'GET' ? dataToken : actionToken;
      return token === undefined ? {} : { authorization: `Basic ${writeBasic(username, token)}` };
    }
    const key = secrets[area];
    if (key === undefined) return {};
    return area === 'gateway' || area === 'chat' ? { [API_KEY_HEADER]: key } : { authorization: `Bearer ${key}` };
  };
}

function writeBasic(username: string, token: string): string {
  return Buffer.from(`${username}:${token}`).toString('base64');
}

/** All texts to scrub: the secrets, and for tokens also their encoded form on the wire. */
export function listSecrets({ campaign, ...keys }: ServiceSecrets): string[] {
  const tokens = [campaign?.dataToken, campaign?.actionToken].filter((token) => token !== undefined);
  return [
    ...Object.values(keys).filter((key) => key !== undefined),
    ...tokens.flatMap((token) => [token, writeBasic(campaign?.username ?? '', token)]),
  ];
}
