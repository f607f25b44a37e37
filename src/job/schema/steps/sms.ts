import { z } from 'zod';
import { DEFAULT_BATCH_SIZE, MAX_BATCH_SIZE } from '../../defaults.js';
import { columnName, count, duplicates, instant, senderId, switchedOn, webAddress } from '../values.js';
import { expected } from '../words.js';
import { writtenInput, writtenSuppression } from '../written-input.js';
import { smsLimits } from '../written-limits.js';

export const smsTemplate = z
  .strictObject({
    source: senderId().optional(),
    text: z.string().min(1).describe('The message, in LiquidJS over the columns: Hi {{ first_name }}.'),
    encoding: z.enum(['AUTO', 'GSM7', 'UCS2']).default('AUTO').describe('AUTO uses GSM7 if every character allows it.'),
    smartReplace: switchedOn().describe(
      'true: typographic quotes, dashes, ellipses and blanks become plain ones where GSM7 is then enough.',
    ),
    scheduled: instant()
      .optional()
      .describe('When the service sends, ISO 8601 with offset, at most 7 days ahead; at once by default.'),
    expiry: instant().optional().describe('When the service stops trying to deliver, ISO 8601 with offset.'),
    dlrCallbackUrl: webAddress().optional().describe('Address to which the service posts delivery receipts.'),
  })
  .refine(({ encoding, smartReplace }) => !smartReplace || encoding !== 'UCS2', {
    path: ['smartReplace'],
    error: 'expected it without encoding: UCS2, which has every character',
  })
  .describe('What to send, and how.');

export const smsStep = z
  .strictObject({
    kind: z.literal('sms').describe('Sends one SMS to each row.'),
    input: writtenInput,
    destination: columnName().describe("Column of the recipient's number."),
    template: smsTemplate,
    batchSize: count(MAX_BATCH_SIZE).default(DEFAULT_BATCH_SIZE).describe('Messages per request.'),
    duplicates: duplicates(),
    suppress: z
      .union([writtenSuppression, z.array(writtenSuppression).min(1)], {
        error: expected('{ files }, or a list of such maps'),
      })
      .transform((written) => [written].flat())
      .optional()
      .describe('Lists of numbers to which nothing is sent; a list of maps where they differ in how they are read.'),
    limits: smsLimits.optional(),
  })
  .describe('Sends SMS in batches.');
