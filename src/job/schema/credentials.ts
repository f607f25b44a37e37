import { z } from 'zod';
import { lineOfText, pathText } from './values.js';

/** Where a secret is found. The secret itself is refused. */
export const SECRET_EXPECTED = 'expected { env: NAME } or { file: PATH }: a job file holds no secret';

function writtenSecret(what: string) {
  return z
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
    .describe(`Where the ${what} is found: { env: NAME } or { file: PATH }. Never the ${what} itself.`);
}

const keyCredentials = z.strictObject({ apiKey: writtenSecret('API key') });

const tokenCredentials = z.strictObject({
  username: lineOfText()
    .refine((text) => !text.includes(':'), 'expected text without a colon')
    .describe('User name of the API tokens, generally the name of the tenant.'),
  dataToken: writtenSecret('Data Request Token'),
  actionToken: writtenSecret('Action Request Token')
    .optional()
    .describe('Where the Action Request Token is found; needed where a step sets a status.'),
});

/** The contract, "Authentication": each area has a scheme of its own; sms, contacts and verification share one. */
export const writtenCredentials = z
  .strictObject({
    apiKey: writtenSecret('API key').optional(),
    sms: keyCredentials.optional().describe('The key for SMS, where it is one of its own.'),
    contacts: keyCredentials.optional().describe('The key for contacts, where it is one of its own.'),
    verification: keyCredentials.optional().describe('The key for verification, where it is one of its own.'),
    gateway: keyCredentials.optional().describe('The key for the chat gateway, which is always one of its own.'),
    campaign: tokenCredentials
      .optional()
      .describe('The API tokens for campaigns: user name, Data Request Token and Action Request Token.'),
    chat: keyCredentials.optional().describe('The key for the workplace chat, which is always one of its own.'),
  })
  .describe(
    'One key for sms, contacts and verification (apiKey), or one for each, which goes before it; gateway, campaign and chat have their own.',
  );
