import { z } from 'zod';
import { parseTemplate } from '../../../template/parse.js';
import { checkText, replaceTypography } from '../../../template/segments.js';
import { smsLimits } from '../../limits.js';
import { columnName, count, duplicates, instant, senderId, switchedOff } from '../values.js';
import { describeTemplateFault, expected, rule, type ValueFault, whenSound } from '../words.js';
import { writtenInput, writtenSuppression } from '../written-input.js';
import { writtenRamp, writtenWindow } from '../written-timing.js';

export const smsTemplate = z
  .strictObject({
    source: senderId().optional(),
    text: z.string().min(1).describe('The message, in LiquidJS over the columns: Hi {{ first_name }}.'),
    encoding: z.enum(['AUTO', 'GSM7', 'UCS2']).default('AUTO').describe('AUTO uses GSM7 if every character allows it.'),
    smartReplace: switchedOff().describe(
      'true: typographic quotes, dashes, ellipses and blanks become plain ones where GSM7 is then enough.',
    ),
    scheduled: instant()
      .optional()
      .describe('When the service sends, ISO 8601 with offset, at most 7 days ahead; at once by default.'),
    expiry: instant().optional().describe('When the service stops trying to deliver, ISO 8601 with offset.'),
  })
  .refine(({ encoding, smartReplace }) => !smartReplace || encoding !== 'UCS2', {
    path: ['smartReplace'],
    error: 'expected it without encoding: UCS2, which has every character',
  })
  .superRefine(rule(findTextFault), whenSound('text'))
  .describe('What to send, and how.');

export const smsStep = z
  .strictObject({
    kind: z.literal('sms').describe('Sends one SMS to each row.'),
    input: writtenInput,
    destination: columnName().describe("Column of the recipient's number."),
    template: smsTemplate,
    // Contract, "Batch SMS": up to 10,000 messages a request. The default is Volley's choice: a lost answer leaves that many rows in doubt.
    batchSize: count(10_000).default(1000).describe('Messages per request.'),
    duplicates: duplicates(),
    suppress: z
      .union([writtenSuppression, z.array(writtenSuppression).min(1)], {
        error: expected('{ files }, or a list of such maps'),
      })
      .transform((written) => [written].flat())
      .optional()
      .describe('Lists of numbers to which nothing is sent; a list of maps where they differ in how they are read.'),
    window: writtenWindow.optional(),
    ramp: writtenRamp.optional(),
    limits: smsLimits.optional(),
  })
  .superRefine(
    rule(({ input, suppress = [] }) => {
      if (!input.files.includes('-') || !suppress.some(({ files }) => files.includes('-'))) return undefined;
      return {
        path: ['suppress'],
        message: 'reads standard input, and so does the input of the step, expected one of them',
        hint: 'Put one of them into a file.',
      };
    }),
    whenSound('input', 'suppress'),
  )
  .describe('Sends SMS in batches.');

/** A fault of the text that affects every row is a fault of the job file: one of the template, or what would reject each row that has a number. */
function findTextFault(template: { text: string; encoding: string; smartReplace: boolean }): ValueFault | undefined {
  const { text, encoding, smartReplace } = template;
  const path = ['text'];
  let constant: string | undefined;
  try {
    constant = text === '' ? undefined : parseTemplate(text).constant;
  } catch (error) {
    return { ...describeTemplateFault(error, ''), path };
  }
  if (constant === undefined) return undefined;
  const sent = smartReplace ? (replaceTypography(constant)?.text ?? constant) : constant;
  const check = checkText(sent, encoding === 'GSM7' || encoding === 'UCS2' ? encoding : 'AUTO');
  return 'code' in check ? { path, message: `: ${check.reason}` } : undefined;
}
