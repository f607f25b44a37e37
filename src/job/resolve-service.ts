import { resolve } from 'node:path';
import { byArea } from '../domain/areas.js';
import { basesByRegion, CHAT_BASE, DEFAULT_GATEWAY_PATHS, GATEWAY_BASE } from '../domain/service-facts.js';
import { NO_BASE } from './base-address.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, SANDBOX_ACCOUNT } from './defaults.js';
import type { AreaCredentials, KeyCredentials, SecretSource, ServiceSettings } from './job.js';
import { omitUndefined } from './omit-undefined.js';
import { buildCampaignBase } from './platforms.js';
import type { CheckedJob } from './schema/written-job.js';

type CheckedService = CheckedJob['service'];

/**
 * Addresses and credentials of every area, secret files with absolute paths. Account and subaccount are '' when a job
 * has none: require-access.ts has checked that no step needs one.
 */
export function resolveService(
  { region, ccPlatform, bases = {}, gatewayPaths = {}, credentials = {}, ...service }: CheckedService,
  directory: string,
): ServiceSettings {
  const { sandbox, account = sandbox ? SANDBOX_ACCOUNT : '' } = service;
  const ownSubAccount = account === '' ? '' : `${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`;
  const addresses = {
    ...basesByRegion[region],
    gateway: GATEWAY_BASE,
    campaign: buildCampaignBase(ccPlatform) ?? '',
    chat: CHAT_BASE,
    ...omitUndefined(bases),
  };
  return {
    ...service,
    account,
    subAccountId: service.subAccountId ?? ownSubAccount,
    bases: sandbox ? SANDBOX_BASES : addresses,
    gatewayPaths: { ...DEFAULT_GATEWAY_PATHS, ...omitUndefined(gatewayPaths) },
    credentials: sandbox ? {} : resolveCredentials(credentials, directory),
  };
}

const SANDBOX_BASES = byArea(() => NO_BASE);

/** Holds only the areas that the job names. */
function resolveCredentials(
  { apiKey, campaign, ...own }: NonNullable<CheckedService['credentials']>,
  directory: string,
): AreaCredentials {
  const shared = apiKey && { apiKey };
  const keyOf = (key: KeyCredentials | undefined) => key && { apiKey: resolveSecret(key.apiKey, directory) };
  return omitUndefined({
    sms: keyOf(own.sms ?? shared),
    contacts: keyOf(own.contacts ?? shared),
    verification: keyOf(own.verification ?? shared),
    gateway: keyOf(own.gateway),
    campaign: campaign && {
      ...campaign,
      dataToken: resolveSecret(campaign.dataToken, directory),
      actionToken: campaign.actionToken && resolveSecret(campaign.actionToken, directory),
    },
    chat: keyOf(own.chat),
  });
}

/** With an absolute path. */
export function resolveSecret(secret: SecretSource, directory: string): SecretSource {
  return 'file' in secret ? { file: resolve(directory, secret.file) } : secret;
}
