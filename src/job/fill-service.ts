import { resolve } from 'node:path';
import type { Area } from '../domain/areas.js';
import { CHAT_BASE, DEFAULT_GATEWAY_PATHS, GATEWAY_BASE, type GatewayPaths } from '../domain/documented.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, SANDBOX_ACCOUNT } from './defaults.js';
import type { AreaCredentials, SecretSource, ServiceSettings } from './job.js';
import { buildCampaignBase } from './platforms.js';
import { basesByRegion, NO_BASE, normalizeBase } from './regions.js';
import type { CheckedJob } from './schema/written-job.js';

type WrittenService = CheckedJob['service'];

/** Addresses and credentials of every area, secret files with absolute paths. */
export function fillService(written: WrittenService, directory: string): ServiceSettings {
  return {
    sandbox: written.sandbox,
    ...fillAccount(written),
    bases: written.sandbox ? SANDBOX_BASES : fillBases(written),
    gatewayPaths: fillGatewayPaths(written.gatewayPaths ?? {}),
    credentials: written.sandbox ? {} : fillCredentials(written.credentials ?? {}, directory),
    timeouts: written.timeouts,
    giveUpAfterSeconds: written.giveUpAfterSeconds,
    trustUnavailable: written.trustUnavailable,
  };
}

/** Both are '' when a job has no account: require-access.ts has checked that no step needs one. */
function fillAccount(written: WrittenService): Pick<ServiceSettings, 'account' | 'accountId' | 'subAccountId'> {
  const account = written.account ?? (written.sandbox ? SANDBOX_ACCOUNT : '');
  const ownSubAccount = account === '' ? '' : `${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`;
  const { accountId, subAccountId = ownSubAccount } = written;
  return { account, ...(accountId === undefined ? {} : { accountId }), subAccountId };
}

const SANDBOX_BASES: Readonly<Record<Area, string>> = {
  sms: NO_BASE,
  contacts: NO_BASE,
  verification: NO_BASE,
  gateway: NO_BASE,
  campaign: NO_BASE,
  chat: NO_BASE,
};

function fillBases(written: WrittenService): Readonly<Record<Area, string>> {
  const regional = basesByRegion[written.region];
  const fillBase = (area: Area, otherwise: string) => {
    const base = written.bases?.[area];
    return base === undefined ? otherwise : normalizeBase(base);
  };
  return {
    sms: fillBase('sms', regional.sms),
    contacts: fillBase('contacts', regional.contacts),
    verification: fillBase('verification', regional.verification),
    gateway: fillBase('gateway', GATEWAY_BASE),
    campaign: fillBase('campaign', buildCampaignBase(written.ccPlatform) ?? ''),
    chat: fillBase('chat', CHAT_BASE),
  };
}

function fillGatewayPaths(written: NonNullable<WrittenService['gatewayPaths']>): GatewayPaths {
  return {
    webhooks: written.webhooks ?? DEFAULT_GATEWAY_PATHS.webhooks,
    channels: written.channels ?? DEFAULT_GATEWAY_PATHS.channels,
    conversation: written.conversation ?? DEFAULT_GATEWAY_PATHS.conversation,
    messages: written.messages ?? DEFAULT_GATEWAY_PATHS.messages,
  };
}

/** Holds only the areas that the job names. */
function fillCredentials(written: NonNullable<WrittenService['credentials']>, directory: string): AreaCredentials {
  const fillKey = (own: { apiKey: SecretSource } | undefined, shared?: SecretSource) => {
    const secret = own?.apiKey ?? shared;
    return secret && { apiKey: fillSecret(secret, directory) };
  };
  const { apiKey, campaign } = written;
  const filled: AreaCredentials = {
    sms: fillKey(written.sms, apiKey),
    contacts: fillKey(written.contacts, apiKey),
    verification: fillKey(written.verification, apiKey),
    gateway: fillKey(written.gateway),
    campaign: campaign && {
      username: campaign.username,
      dataToken: fillSecret(campaign.dataToken, directory),
      actionToken: campaign.actionToken && fillSecret(campaign.actionToken, directory),
    },
    chat: fillKey(written.chat),
  };
  return Object.fromEntries(Object.entries(filled).filter(([, credentials]) => credentials !== undefined));
}

function fillSecret(secret: SecretSource, directory: string): SecretSource {
  return 'file' in secret ? { file: resolve(directory, secret.file) } : { env: secret.env };
}
