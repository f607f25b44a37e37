import { z } from 'zod';
import { isObject } from '../../domain/is-object.js';
import { type AreaEntry, absoluteUrl, type Codes, country, ENCODINGS } from '../area.js';
import { ERROR_CODE, INVALID_MSISDN } from '../http-answer.js';

/** A message that was accepted. Text, source and encoding are what is in force after the template. */
export interface SmsEntry extends AreaEntry<'sms', SmsRow> {
  /** Set when the batch was cancelled before the message's time. */
  readonly cancelledAt: string | null;
}

export interface SmsRow {
  readonly subAccountId: string;
  readonly batchId: string;
  readonly clientBatchId: string | null;
  readonly umid: string;
  readonly clientMessageId: string | null;
  /** As the client wrote it. */
  readonly destination: string;
  readonly country: string | null;
  readonly source: string | null;
  readonly text: string;
  readonly encoding: 'GSM7' | 'UCS2';
  /** Number of SMS that the text takes, 1 to 10. */
  readonly parts: number;
  readonly scheduled: string | null;
  readonly expiry: string | null;
  readonly dlrCallbackUrl: string | null;
}

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** ISO 8601 with its offset. */
const time = z.string().refine((text) => ISO_WITH_OFFSET.test(text) && !Number.isNaN(Date.parse(text)));

const sharedFields = {
  text: z.string().optional(),
  encoding: z.enum(ENCODINGS).optional(),
  scheduled: time.optional(),
  expiry: time.optional(),
  dlrCallbackUrl: absoluteUrl.optional(),
};

/** Limits of the service's documentation. Of a message alone, too long a source refuses only that message. */
const messageSchema = z.object({
  destination: z.string(INVALID_MSISDN),
  ...sharedFields,
  source: z.string().optional(),
  country: country.optional(),
  clientMessageId: z.string().max(350).optional(),
});

const batchSchema = z.object({
  clientBatchId: z.string().max(20).optional(),
  includeMessagesInResponse: z.boolean().optional(),
  template: z.object({ ...sharedFields, source: z.string().max(16).optional() }).optional(),
  messages: z.array(messageSchema).min(1).max(10_000),
});

/** A batch whose form is right; single messages may still be refused. */
export type BatchRequest = z.output<typeof batchSchema>;
export type MessageRequest = BatchRequest['messages'][number];

/** A whole body: with `messages`, or in the compact form with `destinations`, which count where there are no messages. */
export const writtenBatch = z.preprocess((body) => {
  if (!isObject(body)) return body;
  const { destinations, messages, ...batch } = body;
  if (messages !== undefined || destinations === undefined) return { ...batch, messages: messages ?? [] };
  const isList = Array.isArray(destinations);
  return { ...batch, messages: isList ? destinations.map((destination) => ({ destination })) : destinations };
}, batchSchema);

const SHARED_CODES: Codes = {
  text: ERROR_CODE.text,
  encoding: ERROR_CODE.encoding,
  scheduled: ERROR_CODE.scheduled,
  expiry: ERROR_CODE.expiry,
  dlrCallbackUrl: ERROR_CODE.receiptUrl,
  source: ERROR_CODE.source,
};

function sharedCodesAt(place: string): Codes {
  return Object.fromEntries(Object.entries(SHARED_CODES).map(([field, code]) => [`${place}.${field}`, code]));
}

export const BATCH_CODES: Codes = {
  'clientBatchId too_big': ERROR_CODE.clientBatchIdTooLong,
  template: ERROR_CODE.template,
  ...sharedCodesAt('template'),
  'template.source too_big': ERROR_CODE.sourceTooLong,
  'messages too_small': ERROR_CODE.messagesMissing,
  'messages too_big': ERROR_CODE.tooManyMessages,
  ...sharedCodesAt('messages'),
  'messages.destination': ERROR_CODE.invalidMsisdn,
  'messages.country': ERROR_CODE.country,
  'messages.clientMessageId too_big': ERROR_CODE.clientMessageIdTooLong,
};
