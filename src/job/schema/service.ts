import { z } from 'zod';
import { REGIONS } from '../../domain/service-facts.js';
import { findBaseFault, normalizeBase } from '../base-address.js';
import { DEFAULT_GIVE_UP_AFTER_SECONDS, DEFAULT_TIMEOUTS, SUB_ACCOUNT_ID } from '../defaults.js';
import { findPathFault } from '../gateway-paths.js';
import { findPlatformFault } from '../platforms.js';
import { writtenCredentials } from './credentials.js';
import { lineOfText } from './values.js';

/** Documented, of the contacts area: a UUID with or without its dashes. */
const ACCOUNT_ID = /^[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}$/;

const writtenBases = z
  .strictObject({
    sms: baseAddress().optional().describe('Address of the SMS area.'),
    contacts: baseAddress().optional().describe('Address of the contacts area; a path prefix may be part of it.'),
    verification: baseAddress().optional().describe('Address of the verification area.'),
    gateway: baseAddress().optional().describe('Address of the chat gateway.'),
    campaign: baseAddress().optional().describe('Address of the contact center; overrides ccPlatform.'),
    chat: baseAddress().optional().describe('Address of the workplace chat.'),
  })
  .describe('Addresses that override those of the region: https, or http for this machine.');

const writtenGatewayPaths = z
  .strictObject({
    webhooks: gatewayPath('plain').optional().describe('Path where webhooks are created.'),
    channels: gatewayPath('plain').optional().describe('Path where channels are created.'),
    conversation: gatewayPath('of-conversation')
      .optional()
      .describe('Path where a conversation is updated; {conversationId} is replaced by its id.'),
    messages: gatewayPath('of-conversation')
      .optional()
      .describe('Path where a message is sent into a conversation; {conversationId} is replaced by its id.'),
  })
  .describe('Paths of the chat gateway that override the known ones. Each begins with / and follows the address.');

export const timeouts = z
  .strictObject({
    connectSeconds: z
      .number()
      .min(0.1)
      .max(300)
      .default(DEFAULT_TIMEOUTS.connectSeconds)
      .describe('Seconds to wait for a connection.'),
    answerSeconds: z
      .number()
      .min(1)
      .max(3600)
      .default(DEFAULT_TIMEOUTS.answerSeconds)
      .describe('Seconds from the last byte sent to the last byte of the answer. After that, the request is in doubt.'),
  })
  .describe('How long to wait for the service.');

/** Which service, which account, and how long to keep trying. */
export const writtenService = z
  .strictObject({
    sandbox: z
      .boolean()
      .default(false)
      .describe('Send to the embedded sandbox instead of the service; needs no account and no credentials.'),
    region: z.enum(REGIONS).default(REGIONS[0]).describe('Region that the account was provisioned in.'),
    ccPlatform: checkedText(findPlatformFault)
      .optional()
      .describe('Platform of the contact center, such as na12: its address is https://vcc-<ccPlatform>.8x8.com.'),
    bases: writtenBases.optional(),
    gatewayPaths: writtenGatewayPaths.optional(),
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
      .regex(SUB_ACCOUNT_ID, 'expected 3 to 50 of A-Z a-z 0-9 - . _ &')
      .optional()
      .describe('Subaccount that messages are sent from; <account>_hq by default.'),
    credentials: writtenCredentials.optional(),
    timeouts: timeouts.prefault({}),
    giveUpAfterSeconds: z
      .number()
      .min(0)
      .max(604_800)
      .default(DEFAULT_GIVE_UP_AFTER_SECONDS)
      .describe('Seconds that a run keeps trying while the service cannot be reached or refuses every request.'),
    trustUnavailable: z
      .boolean()
      .default(false)
      .describe(
        'Take every HTTP 503 to mean that the request was not processed. Otherwise one from a proxy puts rows in doubt, because the service may have processed them.',
      ),
  })
  .describe('The service that the job calls, and the account it uses.');

function baseAddress() {
  return checkedText(findBaseFault).transform(normalizeBase);
}

function gatewayPath(form: 'plain' | 'of-conversation') {
  return checkedText((text) => findPathFault(text, form));
}

/** `findFault` says what is wrong as "expected …", or undefined. */
function checkedText(findFault: (text: string) => string | undefined) {
  return lineOfText().superRefine((text, context) => {
    const fault = findFault(text);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });
}
