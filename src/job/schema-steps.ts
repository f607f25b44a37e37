import { z } from 'zod';
import { ceilings } from '../throttle/ceilings.js';
import { DEFAULT_BATCH_SIZE, MAX_BATCH_SIZE } from './defaults.js';
import { writtenInput } from './schema-input.js';
import { columnName, count, instant, lineOfText, perSecond, webAddress } from './schema-values.js';

const RATE_HELP = 'A fraction is one in several seconds.';

/** Limits at the top of the file, for every step. Held against the ceilings of the steps by rules.ts. */
export const writtenLimits = z
  .strictObject({
    requestsPerSecond: perSecond().optional().describe(`Requests in any one second. ${RATE_HELP}`),
    messagesPerSecond: perSecond().optional().describe(`Messages in any one second. ${RATE_HELP}`),
    segmentsPerSecond: perSecond().optional().describe(`SMS parts in any one second. ${RATE_HELP}`),
    concurrency: count().optional().describe('Requests in flight at once.'),
  })
  .describe('How fast to send. A step with limits of its own goes before these.');

const contactsLimits = z
  .strictObject({
    requestsPerSecond: perSecond(ceilings.contacts.requestsPerSecond)
      .optional()
      .describe(`Requests in any one second; a contact is a request. ${RATE_HELP}`),
    concurrency: count(ceilings.contacts.concurrency).optional().describe('Requests in flight at once.'),
  })
  .describe('How fast this step sends; goes before the limits at the top.');

const smsLimits = z
  .strictObject({
    requestsPerSecond: perSecond(ceilings.sms.requestsPerSecond)
      .optional()
      .describe(`Requests (batches) in any one second. ${RATE_HELP}`),
    messagesPerSecond: perSecond(ceilings.sms.messagesPerSecond)
      .optional()
      .describe(`Messages in any one second. ${RATE_HELP}`),
    segmentsPerSecond: perSecond(ceilings.sms.segmentsPerSecond)
      .optional()
      .describe(`SMS parts in any one second. ${RATE_HELP}`),
    concurrency: count(ceilings.sms.concurrency).optional().describe('Requests in flight at once.'),
  })
  .describe('How fast this step sends; goes before the limits at the top.');

const fields = z
  .strictObject({
    firstName: columnName().optional().describe('Column of the given name.'),
    lastName: columnName().optional().describe('Column of the family name.'),
    externalId: columnName().optional().describe('Column of your own identifier of the person.'),
    country: columnName().optional().describe("Column of the contact's two-letter country."),
    msisdn: columnName().optional().describe('Column of the telephone number.'),
    email: columnName().optional().describe('Column of the e-mail address.'),
    weChatUserId: columnName().optional().describe('Column of the WeChat user id.'),
    facebookUserId: columnName().optional().describe('Column of the Facebook user id.'),
    zaloId: columnName().optional().describe('Column of the Zalo id.'),
    lineId: columnName().optional().describe('Column of the LINE id.'),
    kakaoTalkId: columnName().optional().describe('Column of the KakaoTalk id.'),
  })
  .describe('Which column each field of the contact is taken from; at least one address among them.');

/** Limits of groups and customAttributes: the service's public documentation, "create contact". */
const contactsStep = z
  .strictObject({
    kind: z.literal('contacts').describe('Makes one contact of each row.'),
    input: writtenInput,
    fields,
    customAttributes: z
      .union(
        [
          z.literal('rest'),
          z
            .record(z.string().min(1), columnName())
            .refine((map) => Object.keys(map).length <= 50, 'expected 50 attributes at most'),
        ],
        { error: 'expected a map of attribute: column, or the word rest' },
      )
      .default({})
      .describe('Attribute: column. Or rest: every column that no field names, under its own name.'),
    groups: z
      .array(z.int().min(1))
      .min(1)
      .max(10)
      .refine((ids) => new Set(ids).size === ids.length, 'expected every group once')
      .meta({ uniqueItems: true })
      .optional()
      .describe('Ids of the groups that every contact joins, 10 at most.'),
    limits: contactsLimits.optional(),
  })
  .describe('Creates contacts, or merges them into those that have the same address.');

const template = z
  .strictObject({
    source: lineOfText()
      .superRefine((source, context) => {
        const fault = findSourceFault(source);
        if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
      })
      .optional()
      .describe('Sender id: a number of 16 digits at most, or a name of 11 characters at most.'),
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

const smsStep = z
  .strictObject({
    kind: z.literal('sms').describe('Sends one SMS to each row.'),
    input: writtenInput,
    destination: columnName().describe("Column of the recipient's number."),
    template,
    batchSize: count(MAX_BATCH_SIZE).default(DEFAULT_BATCH_SIZE).describe('Messages in a request.'),
    duplicates: z
      .enum(['skip', 'keep'])
      .default('skip')
      .describe('What to do with a number that the files of this step hold twice.'),
    suppress: writtenInput.optional().describe('Lists of numbers that nothing is sent to.'),
    limits: smsLimits.optional(),
  })
  .describe('Sends SMS in batches.');

/** One stage of the job; `kind` says which. */
export const writtenStep = z.discriminatedUnion('kind', [contactsStep, smsStep]);

/** The service's public documentation: source has 16 characters at most, an alphanumeric sender 11. */
function findSourceFault(source: string): string | undefined {
  const isNumber = /^\+?\d+$/.test(source);
  if (isNumber && source.length > 16) return 'expected a number of 16 characters at most';
  if (!isNumber && source.length > 11) return `expected a sender name of 11 characters at most, not ${source.length}`;
  return undefined;
}
