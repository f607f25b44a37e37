import { randomUUID } from 'node:crypto';
import { answerError, answerJson, ERROR_CODE, type HttpAnswer } from './http-answer.js';

/** What a client needs to call the sandbox. */
export interface SandboxCredentials {
  readonly account: string;
  readonly subAccountId: string;
  readonly apiKey: string;
  /** `x-api-key` of the workplace chat. */
  readonly chatKey: string;
  /** `x-api-key` of the chat gateway. */
  readonly gatewayKey: string;
  /** Basic authentication of the contact center: one token reads, the other changes. */
  readonly campaign: { readonly username: string; readonly dataToken: string; readonly actionToken: string };
}

/** An account beside `acme`. Its subaccount defaults to `<account>_hq`, its key to the sandbox's test key. */
export interface SandboxAccount {
  readonly account: string;
  /** Its UUID, by which contacts know it too. */
  readonly accountId?: string | undefined;
  readonly apiKey?: string;
  readonly subAccountIds?: readonly string[];
}

/** Public, and valid for the sandbox only. */
export const TEST_CREDENTIALS: SandboxCredentials = {
  account: 'acme',
  subAccountId: 'acme_hq',
  apiKey: 'sandbox-test-key-not-a-secret',
  chatKey: 'sandbox-chat-key-not-a-secret',
  gatewayKey: 'sandbox-gateway-key-not-a-secret',
  campaign: {
    username: 'acme',
    dataToken: 'sandbox-data-token-not-a-secret',
    actionToken: 'sandbox-action-token-not-a-secret',
  },
};

/** The service's own pattern of a subaccount's id. */
const SUBACCOUNT_ID = /^[A-Za-z0-9\-._&]{3,50}$/;

/** Which of the contact center's two tokens a request needs: `data` to read, `action` to change. */
export type BasicToken = 'data' | 'action';

/** A header as Node gives it. */
type HeaderValue = string | readonly string[] | undefined;

/** Checks keys. Undefined = allowed; otherwise the 400, 401 or 403 to answer. `now` in ms since 1970. */
export interface Keyring {
  refuseSubAccount(authorization: string | undefined, subAccountId: string, now: number): HttpAnswer | undefined;
  refuseAccount(authorization: string | undefined, account: string, now: number): HttpAnswer | undefined;
  /** Contact center: 401 with `message` to another user name, and to one token where the other is needed. */
  refuseBasic(authorization: string | undefined, token: BasicToken, now: number): HttpAnswer | undefined;
  /** Workplace chat: 401 with the contract's `fault`. */
  refuseChatKey(apiKey: HeaderValue, now: number): HttpAnswer | undefined;
  /** Chat gateway: 401 with its `message`, `errors` and `referenceId`. */
  refuseGatewayKey(apiKey: HeaderValue, now: number): HttpAnswer | undefined;
}

/** Takes `acme` and the given accounts; several accounts may hold one key. */
export function createKeyring(accounts: readonly SandboxAccount[]): Keyring {
  const accountsOfKey = new Map<string, Set<string>>();
  const subAccountsOfKey = new Map<string, Set<string>>();
  for (const { account, accountId = account, apiKey = TEST_CREDENTIALS.apiKey, subAccountIds = [`${account}_hq`] } of [
    { account: TEST_CREDENTIALS.account },
    ...accounts,
  ] satisfies SandboxAccount[] as SandboxAccount[]) {
    accountsOfKey.set(apiKey, new Set([...(accountsOfKey.get(apiKey) ?? []), account, accountId]));
    subAccountsOfKey.set(apiKey, new Set([...(subAccountsOfKey.get(apiKey) ?? []), ...subAccountIds]));
  }

  const refuse = (held: Set<string> | undefined, id: string, what: string, now: number) => {
    if (held === undefined) return answerError(401, NOT_AUTHENTICATED, now);
    if (held.has(id)) return undefined;
    return answerError(
      403,
      { code: ERROR_CODE.forbidden, message: `Provided ${what} doesn't belong to your account` },
      now,
    );
  };

  return {
    refuseSubAccount: (authorization, subAccountId, now) => {
      const held = subAccountsOfKey.get(readBearer(authorization));
      if (held !== undefined && !SUBACCOUNT_ID.test(subAccountId)) {
        return answerError(400, { code: ERROR_CODE.illegalSubAccount, message: 'Illegal subAccountId' }, now);
      }
      return refuse(held, subAccountId, 'subAccountId', now);
    },
    refuseAccount: (authorization, account, now) =>
      refuse(accountsOfKey.get(readBearer(authorization)), account, 'accountId', now),
    refuseBasic: (authorization, token) =>
      isBasic(authorization, token) ? undefined : answerJson(401, { message: 'Not authorized.' }),
    refuseChatKey: (apiKey) => (apiKey === TEST_CREDENTIALS.chatKey ? undefined : answerJson(401, INVALID_TOKEN)),
    refuseGatewayKey: (apiKey) =>
      apiKey === TEST_CREDENTIALS.gatewayKey
        ? undefined
        : answerJson(
            401,
            { ...ACCESS_DENIED, referenceId: randomUUID() },
            { 'content-type': 'application/problem+json' },
          ),
  };
}

const NOT_AUTHENTICATED = {
  code: ERROR_CODE.notAuthenticated,
  message: 'Request was not authenticated properly',
};

/** As the contract words it: a text that says the access token is invalid, and the code in `detail`. */
const INVALID_TOKEN = {
  fault: { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } },
};

/** The gateway's own form of an error, from the service's documentation. */
const ACCESS_DENIED = { message: 'Access Denied', errors: [{ code: 'access_denied', message: 'Access Denied' }] };

function isBasic(authorization: string | undefined, token: BasicToken): boolean {
  const { username, dataToken, actionToken } = TEST_CREDENTIALS.campaign;
  const encoded = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1] ?? '';
  const expected = `${username}:${token === 'data' ? dataToken : actionToken}`;
  return Buffer.from(encoded, 'base64').toString() === expected;
}

/** '' for a header that is missing or of another scheme; no account has that key. */
function readBearer(authorization: string | undefined): string {
  return /^Bearer ([^\s]+)$/i.exec(authorization ?? '')?.[1] ?? '';
}
