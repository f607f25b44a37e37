import { z } from 'zod';
import { checkText as checkMessage } from '../../../template/check-text.js';
import { replaceTypography } from '../../../template/gsm7.js';
import { parseTemplate } from '../../../template/parse.js';
import { DEFAULT_BATCH_SIZE, MAX_BATCH_SIZE } from '../../defaults.js';
import { columnName, count, duplicates, instant, senderId, switchedOn, webAddress } from '../values.js';
import { addTemplateFault, expected, whenSound, withHint } from '../words.js';
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
  .superRefine(checkText, whenSound('text'))
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
  .superRefine(
    ({ input, suppress = [] }, context) => {
      const isRead = ({ files }: { readonly files: readonly string[] }) => files.includes('-');
      if (!isRead(input) || !suppress.some(isRead)) return;
      const message = 'reads standard input, and so does the input of the step, expected one of them';
      const hint = 'Put one of them into a file.';
      context.addIssue({ code: 'custom', path: ['suppress'], message: withHint(message, hint) });
    },
    whenSound('input', 'suppress'),
  )
  .describe('Sends SMS in batches.');

/** A fault of the text that affects every row is a fault of the job file: one of the template, or what would reject each row that has a number. */
function checkText(
  { text, encoding, smartReplace }: { text: string; encoding: string; smartReplace?: boolean | undefined },
  context: z.core.$RefinementCtx,
): void {
  const path = ['text'];
  let constant: string | undefined;
  try {
    constant = text === '' ? undefined : parseTemplate(text).constant;
  } catch (error) {
    addTemplateFault(error, '', context, path);
  }
  if (constant === undefined) return;
  const sent = smartReplace === true ? (replaceTypography(constant)?.text ?? constant) : constant;
  const check = checkMessage(sent, encoding === 'GSM7' || encoding === 'UCS2' ? encoding : 'AUTO');
  if (!check.ok) context.addIssue({ code: 'custom', path, message: `: ${check.rejection.reason}` });
}
