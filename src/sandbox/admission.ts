import type { IncomingHttpHeaders } from 'node:http';
import { remember } from '../domain/is-object.js';
import { ERROR_CODE, type RefusedRequest } from './http-answer.js';

/** An account beside `acme`. Its subaccount defaults to `<account>_hq`, its key to the sandbox's test key. */
export interface SandboxAccount {
  readonly account: string;
  /** Its UUID, by which contacts know it too. */
  readonly accountId?: string | undefined;
  readonly apiKey?: string;
  readonly subAccountIds?: readonly string[];
}

/** What a client needs to call the sandbox: public, and valid for the sandbox only. */
export const TEST_CREDENTIALS = {
  account: 'acme',
  subAccountId: 'acme_hq',
  apiKey: 'sandbox-test-key-not-a-secret',
  /** `x-api-key` of the workplace chat. */
  chatKey: 'sandbox-chat-key-not-a-secret',
  /** `x-api-key` of the chat gateway. */
  gatewayKey: 'sandbox-gateway-key-not-a-secret',
  /** Basic authentication of the contact center: one token reads, the other changes. */
  campaign: {
    username: 'acme',
    dataToken: 'sandbox-data-token-not-a-secret',
    actionToken: 'sandbox-action-token-not-a-secret',
  },
};

/** Whose a request must be: of the account or the subaccount in its path, or with one of the keys and tokens that are the same for all. */
export type Who = 'accountId' | 'subAccountId' | keyof typeof SECRETS | 'anyone';

/** The service's own pattern of a subaccount's id. */
const SUBACCOUNT_ID = /^[A-Za-z0-9\-._&]{3,50}$/;

const { chatKey, gatewayKey, campaign } = TEST_CREDENTIALS;
const toBasic = (token: string) => `Basic ${Buffer.from(`${campaign.username}:${token}`).toString('base64')}`;
const SECRETS = {
  chatKey: { header: 'x-api-key', value: chatKey },
  gatewayKey: { header: 'x-api-key', value: gatewayKey },
  dataToken: { header: 'authorization', value: toBasic(campaign.dataToken) },
  actionToken: { header: 'authorization', value: toBasic(campaign.actionToken) },
} as const;

export type Keyring = ReturnType<typeof createKeyring>;

/** Takes `acme` and the given accounts; several accounts may hold one key. Gives why a request may not be made; undefined where it may. */
export function createKeyring(accounts: readonly SandboxAccount[]) {
  const idsOfKey = new Map<string, Record<'accountId' | 'subAccountId', string[]>>();
  for (const given of [{ account: TEST_CREDENTIALS.account }, ...accounts]) {
    const { account, accountId = account, apiKey = TEST_CREDENTIALS.apiKey, subAccountIds }: SandboxAccount = given;
    const ids = remember(idsOfKey, apiKey, () => ({ accountId: [], subAccountId: [] }));
    ids.accountId.push(account, accountId);
    ids.subAccountId.push(...(subAccountIds ?? [`${account}_hq`]));
  }
  return (
    who: Who,
    headers: IncomingHttpHeaders,
    params: Readonly<Record<string, string>>,
  ): RefusedRequest | undefined => {
    if (who === 'anyone') return undefined;
    if (who !== 'accountId' && who !== 'subAccountId') return isShown(who, headers) ? undefined : NOT_AUTHENTICATED;
    const ids = idsOfKey.get(/^Bearer ([^\s]+)$/i.exec(headers.authorization ?? '')?.[1] ?? '');
    const id = params[who] ?? '';
    if (ids === undefined) return NOT_AUTHENTICATED;
    if (who === 'subAccountId' && !SUBACCOUNT_ID.test(id)) {
      return { status: 400, code: ERROR_CODE.illegalSubAccount, message: 'Illegal subAccountId' };
    }
    if (ids[who].includes(id)) return undefined;
    return { status: 403, code: ERROR_CODE.forbidden, message: `Provided ${who} doesn't belong to your account` };
  };
}

function isShown(secret: keyof typeof SECRETS, headers: IncomingHttpHeaders): boolean {
  const { header, value } = SECRETS[secret];
  const shown = headers[header];
  return (typeof shown === 'string' ? shown.replace(/^basic /i, 'Basic ') : shown) === value;
}

const NOT_AUTHENTICATED = { status: 401, message: undefined };

/** How many requests in any second; the first two are numbers of the service's documentation, the third is the contract's. */
export interface RateLimits {
  readonly perSubAccount: number;
  readonly perAddress: number;
  /** Workplace chat. */
  readonly perChatKey: number;
}

export const DOCUMENTED_RATE_LIMITS: RateLimits = { perSubAccount: 1800, perAddress: 3000, perChatKey: 5 };
const NONE = Number.POSITIVE_INFINITY;
export const NO_RATE_LIMITS: RateLimits = { perSubAccount: NONE, perAddress: NONE, perChatKey: NONE };

/** Counts exactly in every sliding second: it remembers the time of the last `limit` requests of each name. */
export function createRateCounter(limit: number) {
  const takenOf = new Map<string, { times: Float64Array; next: number }>();
  /** Takes a request of that name at `atMs` (monotonic); false, and not counted, when the limit was taken in the second before. */
  return (name: string, atMs: number): boolean => {
    if (limit === NONE) return true;
    const taken = remember(takenOf, name, () => ({ times: new Float64Array(limit).fill(-NONE), next: 0 }));
    const oldest = taken.times[taken.next] ?? NONE;
    if (atMs - oldest < 1000) return false;
    taken.times[taken.next] = atMs;
    taken.next = (taken.next + 1) % limit;
    return true;
  };
}
