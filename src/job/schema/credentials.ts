import { z } from 'zod';
import { lineOfText, pathText } from './values.js';
import { expected } from './words.js';

/** Where to read a secret. A literal secret is refused. */
export const SECRET_EXPECTED = '{ env: NAME } or { file: PATH }: a job file must not contain secrets';

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
        z.strictObject({
          file: pathText().describe('File that contains only the secret; relative to the job file.'),
        }),
      ],
      { error: expected(SECRET_EXPECTED) },
    )
    .describe(`Where to find the ${what}: { env: NAME } or { file: PATH }. Never the ${what} itself.`);
}

export const keyCredentials = z.strictObject({ apiKey: writtenSecret('API key') });

export const tokenCredentials = z.strictObject({
  username: lineOfText()
    .refine((text) => !text.includes(':'), 'expected text without a colon')
    .describe('User name of the API tokens, usually the name of the tenant.'),
  dataToken: writtenSecret('Data Request Token'),
  actionToken: writtenSecret('Action Request Token')
    .optional()
    .describe('Where to find the Action Request Token; needed if a step sets a status.'),
});

/** The contract, "Authentication": each area has a scheme of its own; sms, contacts and verification share one. */
export const writtenCredentials = z
  .strictObject({
    apiKey: writtenSecret('API key').optional(),
    sms: keyCredentials.optional().describe('The key for SMS, if it has its own.'),
    contacts: keyCredentials.optional().describe('The key for contacts, if they have their own.'),
    verification: keyCredentials.optional().describe('The key for verification, if it has its own.'),
    gateway: keyCredentials.optional().describe('The key for the chat gateway, which always has its own.'),
    campaign: tokenCredentials
      .optional()
      .describe('The API tokens for campaigns: user name, Data Request Token and Action Request Token.'),
    chat: keyCredentials.optional().describe('The key for the workplace chat, which always has its own.'),
  })
  .describe(
    'One key for sms, contacts and verification (apiKey), or one for each, which takes precedence; gateway, campaign and chat have their own.',
  );
