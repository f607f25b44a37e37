import { z } from 'zod';
import { DEFAULT_GIVE_UP_AFTER_SECONDS, DEFAULT_TIMEOUTS, SUB_ACCOUNT_ID } from './defaults.js';
import { DEFAULT_REGION, findBaseFault, REGIONS } from './regions.js';
import { lineOfText, pathText } from './schema-values.js';

/** Where a secret is found. The secret itself is refused. */
export const SECRET_EXPECTED = 'expected { env: NAME } or { file: PATH }: a job file holds no secret';

const writtenSecret = z
  .union(
    [
      z.strictObject({
        env: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable')
          .describe('Name of the environment variable that holds the secret.'),
      }),
      z.strictObject({
        file: pathText().describe('File that holds the secret and nothing else; relative to the job file.'),
      }),
    ],
    { error: SECRET_EXPECTED },
  )
  .describe('Where the API key is found: { env: NAME } or { file: PATH }. Never the key itself.');

const areaCredentials = z.strictObject({ apiKey: writtenSecret });

const writtenCredentials = z
  .strictObject({
    apiKey: writtenSecret.optional(),
    sms: areaCredentials.optional().describe('The key for SMS, where it is one of its own.'),
    contacts: areaCredentials.optional().describe('The key for contacts, where it is one of its own.'),
    verification: areaCredentials.optional().describe('The key for verification, where it is one of its own.'),
  })
  .describe('One key for every area (apiKey), or one per area; an area of its own goes before apiKey.');

const writtenBases = z
  .strictObject({
    sms: baseAddress().optional().describe('Address of the SMS area.'),
    contacts: baseAddress().optional().describe('Address of the contacts area; a path prefix may be part of it.'),
    verification: baseAddress().optional().describe('Address of the verification area.'),
  })
  .describe('Addresses that go before those of the region. https, or http to this machine.');

const writtenTimeouts = z
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
      .describe('Seconds from the last byte sent to the last byte of the answer; after that the request is in doubt.'),
  })
  .describe('How long to wait for the service.');

/** Which service, as whom, and how patiently. */
export const writtenService = z
  .strictObject({
    sandbox: z
      .boolean()
      .default(false)
      .describe('Send to the embedded sandbox instead of the service; needs no account and no credentials.'),
    region: z.enum(REGIONS).default(DEFAULT_REGION).describe('Region that the account was provisioned in.'),
    bases: writtenBases.optional(),
    account: z
      .string()
      .regex(/^(?!\.{1,2}$)[A-Za-z0-9\-._&]{1,50}$/, 'expected up to 50 of A-Z a-z 0-9 - . _ &')
      .optional()
      .describe('Identifier of the account.'),
    subAccountId: z
      .string()
      .regex(SUB_ACCOUNT_ID, 'expected 3 to 50 of A-Z a-z 0-9 - . _ &')
      .optional()
      .describe('Subaccount that messages are sent from; <account>_hq when not given.'),
    credentials: writtenCredentials.optional(),
    timeouts: writtenTimeouts.prefault({}),
    giveUpAfterSeconds: z
      .number()
      .min(0)
      .max(604_800)
      .default(DEFAULT_GIVE_UP_AFTER_SECONDS)
      .describe('Seconds that a run goes on trying while the service cannot be reached or refuses every request.'),
  })
  .describe('Which service the job speaks to, and as whom.');

function baseAddress() {
  return lineOfText().superRefine((text, context) => {
    const fault = findBaseFault(text);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });
}
