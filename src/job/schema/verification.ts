import { z } from 'zod';
import {
  CODE_LENGTH,
  CODE_VALIDITY_SECONDS,
  MAX_BRAND_LENGTH,
  RESENDING_INTERVAL_SECONDS,
} from '../../domain/documented.js';
import { columnName, duplicates, lineOfText, senderId, within } from './values.js';
import { writtenInput } from './written-input.js';
import { rowLimits } from './written-limits.js';

/** That `brand` is given where the template holds {brand} is a rule of rules-steps.ts. */
export const verificationStartStep = z
  .strictObject({
    kind: z.literal('verification.start').describe('Sends a one-time code to the number of each row.'),
    input: writtenInput,
    destination: columnName().describe('Column of the number that the code is sent to.'),
    brand: lineOfText()
      .max(MAX_BRAND_LENGTH)
      .optional()
      .describe(`Name that stands for {brand} in the SMS, ${MAX_BRAND_LENGTH} characters at most.`),
    template: z
      .string()
      .min(1)
      .superRefine((text, context) => {
        const fault = findPlaceholderFault(text);
        if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
      })
      .optional()
      .describe("The SMS, with {code} and, where wanted, {brand}; the service's own words when not given."),
    source: senderId().optional(),
    codeLength: within(CODE_LENGTH)
      .optional()
      .describe(`Characters of the code; the service takes ${CODE_LENGTH.default} when not given.`),
    codeValidity: within(CODE_VALIDITY_SECONDS)
      .optional()
      .describe(`Seconds that a code is good for; the service takes ${CODE_VALIDITY_SECONDS.default} when not given.`),
    resendingInterval: within(RESENDING_INTERVAL_SECONDS)
      .default(RESENDING_INTERVAL_SECONDS.default)
      .describe('Seconds in which a number gets no second SMS.'),
    resetSession: z
      .boolean()
      .optional()
      .describe(
        'true: a session that is still open begins anew, with a new code. Else it goes on with the code it has.',
      ),
    whenTooEarly: z
      .enum(['wait', 'reject'])
      .default('wait')
      .describe('What to do with a number that may not be sent to again yet: wait until it may, or reject the row.'),
    duplicates: duplicates(),
    limits: rowLimits('verification', 'a session').optional(),
  })
  .describe('Starts a verification session for each row.');

export const verificationCheckStep = z
  .strictObject({
    kind: z.literal('verification.check').describe('Checks the code, or reads the status, of the session of each row.'),
    input: writtenInput,
    session: columnName().describe("Column of the session's id, as the results of verification.start have it."),
    code: columnName()
      .optional()
      .describe('Column of the code that the person gave; when not given the status is only read.'),
    limits: rowLimits('verification', 'a check').optional(),
  })
  .describe('Checks verification sessions.');

/** The service fills {code} and {brand} and nothing else, and sends a text without {code} as it is. */
function findPlaceholderFault(text: string): string | undefined {
  const stranger = /[{}]/.exec(text.replaceAll('{code}', '').replaceAll('{brand}', ''));
  if (stranger !== null) return 'expected no { or } but those of {code} and {brand}';
  return text.includes('{code}') ? undefined : 'expected text with {code}, where the code is put';
}
