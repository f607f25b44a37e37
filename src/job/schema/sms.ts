import { z } from 'zod';
import { DEFAULT_BATCH_SIZE, MAX_BATCH_SIZE } from '../defaults.js';
import { columnName, count, duplicates, instant, senderId, webAddress } from './values.js';
import { writtenInput } from './written-input.js';
import { smsLimits } from './written-limits.js';

const template = z
  .strictObject({
    source: senderId().optional(),
    text: z.string().min(1).describe('The message, in LiquidJS over the columns: Hi {{ first_name }}.'),
    encoding: z
      .enum(['AUTO', 'GSM7', 'UCS2'])
      .default('AUTO')
      .describe('AUTO takes GSM7 where every character allows it.'),
    scheduled: instant()
      .optional()
      .describe('When the service sends, ISO 8601 with offset, 7 days ahead at most; at once when not given.'),
    expiry: instant().optional().describe('When the service stops trying to deliver, ISO 8601 with offset.'),
    dlrCallbackUrl: webAddress().optional().describe('Address that the service posts delivery receipts to.'),
  })
  .describe('What is sent, and how.');

export const smsStep = z
  .strictObject({
    kind: z.literal('sms').describe('Sends one SMS to each row.'),
    input: writtenInput,
    destination: columnName().describe("Column of the recipient's number."),
    template,
    batchSize: count(MAX_BATCH_SIZE).default(DEFAULT_BATCH_SIZE).describe('Messages in a request.'),
    duplicates: duplicates(),
    suppress: writtenInput.optional().describe('Lists of numbers that nothing is sent to.'),
    limits: smsLimits.optional(),
  })
  .describe('Sends SMS in batches.');
