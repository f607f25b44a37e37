import { z } from 'zod';
import { type Area, byArea } from '../domain/areas.js';
import { omitUndefined } from '../domain/is-object.js';
import type { Region } from '../domain/service-facts.js';
import type { Timeouts } from '../job/job.js';
import { defaultLimitsOfArea, type Limits, rowLimits, smsLimits } from '../job/limits.js';
import { resolveService } from '../job/resolve-job.js';
import { DOCUMENTED_ADDRESS, SUB_ACCOUNT_ID, tokenUser, writtenService } from '../job/schema/service.js';
import type { ServiceSecrets } from '../service/service-secrets.js';
import { checkOptions, followSignal, refuseOptions, signalOption } from './check-options.js';

/** Which service, which account, how fast; keys as in a job's `service`. */
export interface ServiceOptions {
  readonly region?: Region | undefined;
  /** Addresses that override those of the region: https, or http to this machine. */
  readonly bases?: Partial<Readonly<Record<Area, string>>> | undefined;
  /** Forms the address of `campaign`, such as na12. */
  readonly ccPlatform?: string | undefined;
  readonly account: string;
  /** UUID of the account, in addresses of contacts; defaults to `account`. */
  readonly accountId?: string | undefined;
  /** The tenant of the contact center, for `gateway`; needed if the organisation has several. */
  readonly tenant?: string | undefined;
  /** Defaults to `<account>_hq`. */
  readonly subAccountId?: string | undefined;
  readonly credentials: CredentialOptions;
  /** Limits of the lane that all calls of an area share; below the ceilings of the area. */
  readonly limits?: Partial<Readonly<Record<Area, LimitOptions>>> | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** How long a call keeps trying while the service is unreachable or refuses it; defaults to 900. */
  readonly giveUpAfterSeconds?: number | undefined;
  /** Treats every HTTP 503 as not processed; by default only one with the service's own error body. */
  readonly trustUnavailable?: boolean | undefined;
  /** Once it aborts, nothing more is sent, and what is in flight rejects as `in-doubt`. */
  readonly signal?: AbortSignal | undefined;
}

/** The secrets themselves: kept in memory, never in an error. */
export interface CredentialOptions extends ServiceSecrets {
  /** Default for sms, contacts and verification. */
  readonly apiKey?: string | undefined;
}

/** Messages and segments are counted for sms alone. */
export type LimitOptions = { readonly [Key in keyof Limits]?: Limits[Key] | undefined };

const DOING = 'create the service';
/** Longer than any key. */
const SECRET = /^[\x21-\x7e]{1,8192}$/;
const secret = () => z.string().regex(SECRET, 'expected only the secret: one line of ASCII without spaces');

const schema = writtenService.omit({ sandbox: true, dlrCallbackUrl: true }).extend({
  account: writtenService.shape.account.unwrap(),
  signal: signalOption,
  credentials: z.strictObject({
    apiKey: secret().optional(),
    sms: secret().optional(),
    contacts: secret().optional(),
    verification: secret().optional(),
    gateway: secret().optional(),
    chat: secret().optional(),
    campaign: z
      .strictObject({
        username: tokenUser(),
        dataToken: secret().optional(),
        actionToken: secret().optional(),
      })
      .optional(),
  }),
  limits: z
    .strictObject({
      sms: smsLimits.optional(),
      contacts: rowLimits('contacts', 'a contact').optional(),
      verification: rowLimits('verification', 'a session').optional(),
      gateway: rowLimits('gateway', 'a conversation').optional(),
      campaign: rowLimits('campaign', 'a change').optional(),
      chat: rowLimits('chat', 'a message').optional(),
    })
    .prefault({}),
});

/** Checks the options and fills their defaults. Refuses with one UserError 'bad-input' that carries every problem, and no secret. */
export function readOptions(given: ServiceOptions) {
  if (typeof given !== 'object' || given === null) {
    throw refuseOptions(DOING, [
      { where: 'options', message: 'are missing, expected an object with account and credentials' },
    ]);
  }
  const { credentials, limits, signal, ...service } = checkOptions(DOING, schema, given);
  const settings = resolveService({ ...service, sandbox: false }, '.');
  if (service.ccPlatform !== undefined && settings.bases.campaign === '') {
    const message = `expected the address of the contact center, since ${service.ccPlatform} does not determine it`;
    throw refuseOptions(DOING, [{ where: 'bases.campaign', message: `${message}; ${DOCUMENTED_ADDRESS}` }]);
  }
  if (!SUB_ACCOUNT_ID.test(settings.subAccountId)) {
    const message = `expected one of 3 to 50 characters, which ${settings.subAccountId} is not`;
    throw refuseOptions(DOING, [{ where: 'subAccountId', message }]);
  }
  const { apiKey } = credentials;
  return {
    settings,
    signal: followSignal(signal),
    secrets: {
      ...credentials,
      sms: credentials.sms ?? apiKey,
      contacts: credentials.contacts ?? apiKey,
      verification: credentials.verification ?? apiKey,
    } satisfies ServiceSecrets,
    limits: byArea((area) => ({ ...defaultLimitsOfArea[area], ...omitUndefined(limits[area] ?? {}) })),
  };
}
