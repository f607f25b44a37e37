import { z } from 'zod';
import { isLoopback } from '../../domain/loopback.js';
import {
  BELL_CANADA_BASE,
  CAMPAIGN_BASE_FORM,
  CAMPAIGN_PLATFORMS,
  CC_PLATFORM,
  REGIONS,
} from '../../domain/service-facts.js';
import { trimEndOf } from '../../domain/text.js';
import { lineOfText, pathText, switchedOff, webAddress } from './values.js';
import { expected, rule } from './words.js';

/** Placeholder until the sandbox reports its address: nothing can listen on port 0, so nothing can be sent by mistake. */
export const NO_BASE = 'http://127.0.0.1:0';

/** A base address is https, or http to this machine only. */
function findBaseFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'expected an address such as https://sms.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    return 'expected https:// (http:// only for this machine itself)';
  }
  if (url.username !== '' || url.password !== '') return 'expected an address without user name and password';
  if (/[?#]/.test(text)) return 'expected an address without ? and #';
  return undefined;
}

/** Origin and path prefix, without a slash at the end; the address must be valid. */
function normalizeBase(text: string): string {
  const url = new URL(text);
  return trimEndOf(`${url.origin}${url.pathname}`, '/');
}

/** The platform of a contact center. */
export function findPlatformFault(text: string): string | undefined {
  if (CC_PLATFORM.test(text)) return undefined;
  const regions = Object.keys(CAMPAIGN_PLATFORMS).join(' ');
  return `expected one of ${regions} followed by up to 21 letters, digits or hyphens, such as na12`;
}

/** The address of a contact center; undefined without a platform, and for Bell Canada, whose addresses follow no rule. */
export function buildCampaignBase(platform: string | undefined): string | undefined {
  if (platform === undefined || isOfBellCanada(platform)) return undefined;
  return CAMPAIGN_BASE_FORM.replace('{ccPlatform}', platform.toLowerCase());
}

export function isOfBellCanada(platform: string): boolean {
  return /^BC/i.test(platform);
}

/** An example of an address, for a hint. */
export const DOCUMENTED_ADDRESS = `the documentation has ${BELL_CANADA_BASE} for BC2`;

export const SECRET_EXPECTED = '{ env: NAME } or { file: PATH }: a job file must not contain secrets';

/** Where to read a secret. A literal secret is refused. */
export function writtenSecret(what: string) {
  return z
    .union(
      [
        z.strictObject({
          env: z
            .string()
            .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable')
            .describe('Name of the environment variable that contains the secret.'),
        }),
        z.strictObject({ file: pathText().describe('File that contains only the secret; relative to the job file.') }),
      ],
      { error: expected(SECRET_EXPECTED) },
    )
    .describe(`Where to find the ${what}: { env: NAME } or { file: PATH }. Never the ${what} itself.`);
}

/** The user name of the API tokens for campaigns. */
export function tokenUser() {
  return lineOfText().refine((text) => !text.includes(':'), 'expected text without a colon');
}

const ownKey = z.strictObject({ apiKey: writtenSecret('API key') }).optional();

/** The contract, "Authentication": each area has a scheme of its own; sms, contacts and verification share one. */
export const writtenCredentials = z
  .strictObject({
    apiKey: writtenSecret('API key').optional(),
    sms: ownKey.describe('The key for SMS, if it has its own.'),
    contacts: ownKey.describe('The key for contacts, if they have their own.'),
    verification: ownKey.describe('The key for verification, if it has its own.'),
    gateway: ownKey.describe('The key for the chat gateway, which always has its own.'),
    campaign: z
      .strictObject({
        username: tokenUser().describe('User name of the API tokens, usually the name of the tenant.'),
        dataToken: writtenSecret('Data Request Token'),
        actionToken: writtenSecret('Action Request Token')
          .optional()
          .describe('Where to find the Action Request Token; needed if a step sets a status.'),
      })
      .optional()
      .describe('The API tokens for campaigns: user name, Data Request Token and Action Request Token.'),
    chat: ownKey.describe('The key for the workplace chat, which always has its own.'),
  })
  .describe(
    'One key for sms, contacts and verification (apiKey), or one for each, which takes precedence; gateway, campaign and chat have their own.',
  );

const base = lineOfText().superRefine(rule(findBaseFault)).transform(normalizeBase).optional();

const writtenBases = z
  .strictObject({
    sms: base.describe('Address of the SMS area.'),
    contacts: base.describe('Address of the contacts area; a path prefix may be part of it.'),
    verification: base.describe('Address of the verification area.'),
    gateway: base.describe('Address of the chat gateway.'),
    campaign: base.describe('Address of the contact center; overrides ccPlatform.'),
    chat: base.describe('Address of the workplace chat.'),
  })
  .describe('Addresses that override those of the region: https, or http for this machine.');

function seconds(min: number, max: number) {
  return z.number().min(min).max(max);
}

/** Volley's choice: a batch of 10,000 messages takes the service under a second, the rest is margin. */
export const DEFAULT_ANSWER_SECONDS = 60;

export const timeouts = z
  .strictObject({
    connectSeconds: seconds(0.1, 300).default(10).describe('Seconds to wait for a connection.'),
    answerSeconds: seconds(1, 3600)
      .default(DEFAULT_ANSWER_SECONDS)
      .describe('Seconds from the last byte sent to the last byte of the answer. After that, the request is in doubt.'),
  })
  .describe('How long to wait for the service.');

/** The contract, "Resources": the subaccount that each account has by default. */
export const DEFAULT_SUB_ACCOUNT_SUFFIX = '_hq';
/** The service's public documentation, path parameter subAccountId. */
export const SUB_ACCOUNT_ID = /^[A-Za-z0-9\-._&]{3,50}$/;
export const SUB_ACCOUNT_EXPECTED = 'expected 3 to 50 of A-Z a-z 0-9 - . _ &';
/** Documented, of the contacts area: a UUID with or without its dashes. */
const ACCOUNT_ID = /^[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}$/;

/** Which service, which account, and how long to keep trying. */
export const writtenService = z
  .strictObject({
    sandbox: switchedOff().describe(
      'Send to the embedded sandbox instead of the service; needs no account and no credentials.',
    ),
    region: z.enum(REGIONS).default(REGIONS[0]).describe('Region that the account was provisioned in.'),
    ccPlatform: lineOfText()
      .superRefine(rule(findPlatformFault))
      .optional()
      .describe('Platform of the contact center, such as na12: its address is https://vcc-<ccPlatform>.8x8.com.'),
    tenant: z
      .string()
      .regex(/^[\x21-\x7e]{1,100}$/, 'expected the name of a tenant, without blanks')
      .optional()
      .describe('Tenant of the contact center, for the chat gateway; needed if the organisation has several.'),
    bases: writtenBases.optional(),
    account: z
      .string()
      .regex(/^(?!\.{1,2}$)[A-Za-z0-9\-._&]{1,50}$/, 'expected up to 50 of A-Z a-z 0-9 - . _ &')
      .optional()
      .describe('Identifier of the account.'),
    accountId: z
      .string()
      .regex(ACCOUNT_ID, 'expected a UUID, such as 0a1b2c3d-0000-4000-8000-0123456789ab')
      .optional()
      .describe('UUID of the account, for the addresses of contacts; account by default.'),
    subAccountId: z
      .string()
      .regex(SUB_ACCOUNT_ID, SUB_ACCOUNT_EXPECTED)
      .optional()
      .describe('Subaccount that messages are sent from; <account>_hq by default.'),
    credentials: writtenCredentials.optional(),
    dlrCallbackUrl: webAddress()
      .optional()
      .describe('Address to which the service posts the delivery receipts of SMS; none by default.'),
    timeouts: timeouts.prefault({}),
    // Volley's choice: long enough for a proxy to restart, short enough that a nightly job ends in the night.
    giveUpAfterSeconds: seconds(0, 604_800)
      .default(900)
      .describe('Seconds that a run keeps trying while the service cannot be reached or refuses every request.'),
    trustUnavailable: switchedOff().describe(
      'Take every HTTP 503 to mean that the request was not processed. Otherwise one from a proxy puts rows in doubt, because the service may have processed them.',
    ),
  })
  .describe('The service that the job calls, and the account it uses.');
