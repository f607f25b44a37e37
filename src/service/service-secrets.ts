import type { Area } from '../domain/areas.js';
import { API_KEY_HEADER } from '../domain/service-facts.js';
import type { Response } from './answer.js';
import type { WireRequest } from './endpoint.js';
import type { Transport } from './transport.js';

/** The secrets of each area; an area without them sends no authentication. */
export interface ServiceSecrets extends Readonly<Partial<Record<Exclude<Area, 'campaign'>, string | undefined>>> {
  readonly campaign?:
    | {
        readonly username: string;
        /** Data Request Token: reads. */
        readonly dataToken?: string | undefined;
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

/** Shorter texts occur in any answer, and no service issues such secrets. */
const MIN_SECRET_CHARACTERS = 8;

/**
 * Scrubs secrets from answers: a service or proxy that echoes requests (debug pages, error texts) must not put a key
 * into journal, outputs or a terminal. A secret, plain or in JSON or URL encoding, becomes `[secret]` in bodies and
 * headers. `secrets` are of ASCII letters, as headers are.
 */
export function scrubAnswers(transport: Transport, secrets: readonly string[]): Transport {
  const long = [...new Set(secrets)].filter((secret) => secret.length >= MIN_SECRET_CHARACTERS);
  if (long.length === 0) return transport;
  const scrub = createScrub(long);
  return {
    ...transport,
    send: async (call, signal) => {
      const answer = await transport.send(call, signal);
      return answer.kind === 'response' ? scrub(answer) : answer;
    },
  };
}

function createScrub(secrets: readonly string[]): (response: Response) => Response {
  const longestFirst = [...secrets].sort((one, other) => other.length - one.length);
  const anyForm = new RegExp(longestFirst.map((secret) => [...secret].map(matchLetter).join('')).join('|'), 'g');
  const mayHoldSecret = (text: string | Buffer) =>
    text.includes('\\') || text.includes('%') || secrets.some((secret) => text.includes(secret));
  const scrubText = (text: string) => (mayHoldSecret(text) ? text.replace(anyForm, '[secret]') : text);
  const scrubHeader = (value: string | string[] | undefined) =>
    typeof value === 'string' ? scrubText(value) : value?.map(scrubText);
  return (response) => ({
    ...response,
    headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, scrubHeader(value)])),
    // Latin-1 keeps every byte, of whatever encoding.
    body: mayHoldSecret(response.body)
      ? Buffer.from(scrubText(response.body.toString('latin1')), 'latin1')
      : response.body,
  });
}

/** Matches a letter as it is, as `\u0041`, as `%41`, or behind a backslash. */
function matchLetter(letter: string): string {
  const hex = letter.charCodeAt(0).toString(16).padStart(2, '0');
  const eitherCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = /[A-Za-z0-9]/.test(letter) ? letter : `\\\\?\\x${hex}`;
  return `(?:\\\\u00${eitherCase}|%${eitherCase}|${plain})`;
}
