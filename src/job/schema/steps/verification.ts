import { z } from 'zod';
import {
  CODE_LENGTH,
  CODE_VALIDITY_SECONDS,
  MAX_BRAND_LENGTH,
  RESENDING_INTERVAL_SECONDS,
} from '../../../domain/service-facts.js';
import { rowLimits } from '../../limits.js';
import { columnName, duplicates, lineOfText, senderId, within } from '../values.js';
import { rule, whenSound } from '../words.js';
import { writtenInput } from '../written-input.js';

/** Without a brand the service does not replace {brand}. */
export const verificationStartStep = z
  .strictObject({
    kind: z.literal('verification.start').describe('Sends a one-time code to the number of each row.'),
    input: writtenInput,
    destination: columnName().describe('Column of the number to send the code to.'),
    brand: lineOfText()
      .max(MAX_BRAND_LENGTH)
      .optional()
      .describe(`Name that replaces {brand} in the SMS, ${MAX_BRAND_LENGTH} characters at most.`),
    template: z
      .string()
      .min(1)
      .superRefine(rule(findPlaceholderFault))
      .optional()
      .describe('The SMS, with {code} and optionally {brand}; the text of the service by default.'),
    source: senderId().optional(),
    codeLength: within(CODE_LENGTH).optional().describe(`Characters of the code; ${CODE_LENGTH.default} by default.`),
    codeValidity: within(CODE_VALIDITY_SECONDS)
      .optional()
      .describe(`Seconds for which a code is valid; ${CODE_VALIDITY_SECONDS.default} by default.`),
    resendingInterval: within(RESENDING_INTERVAL_SECONDS)
      .default(RESENDING_INTERVAL_SECONDS.default)
      .describe('Seconds until a number can get another SMS.'),
    resetSession: z
      .boolean()
      .optional()
      .describe(
        'true: a session that is still open starts again, with a new code. Otherwise it keeps the code that it has.',
      ),
    whenTooEarly: z
      .enum(['wait', 'reject'])
      .default('wait')
      .describe('What to do with a number that cannot get another SMS yet: wait, or reject the row.'),
    duplicates: duplicates(),
    limits: rowLimits('verification', 'a session').optional(),
  })
  .superRefine(
    rule(({ template, brand }) => {
      if (!String(template ?? '').includes('{brand}') || brand !== undefined) return undefined;
      return {
        path: ['brand'],
        message: 'expected the name that replaces {brand} in the template',
        hint: 'Write brand: <name>, or remove {brand} from the template.',
      };
    }),
    whenSound('template'),
  )
  .describe('Starts a verification session for each row.');

export const verificationCheckStep = z
  .strictObject({
    kind: z.literal('verification.check').describe('Checks the code, or reads the status, of the session of each row.'),
    input: writtenInput,
    session: columnName().describe(
      "Column of the session's id, such as _sessionId in the results of verification.start.",
    ),
    code: columnName()
      .optional()
      .describe('Column of the code that the person entered. Without it, the step only reads the status.'),
    limits: rowLimits('verification', 'a check').optional(),
  })
  .describe('Checks verification sessions.');

/** The service fills {code} and {brand} and nothing else, and sends a text without {code} as it is. */
function findPlaceholderFault(text: string): string | undefined {
  const stranger = /[{}]/.exec(text.replaceAll('{code}', '').replaceAll('{brand}', ''));
  if (stranger !== null) return 'expected no { or } other than {code} and {brand}';
  return text.includes('{code}') ? undefined : 'expected text with {code} in it';
}
