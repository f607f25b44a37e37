import { z } from 'zod';
import { isObject } from '../../domain/is-object.js';
import { type AreaEntry, absoluteUrl, type Codes, country, ENCODINGS } from '../area.js';
import { ERROR_CODE, INVALID_MSISDN } from '../http-answer.js';

/** A message that was accepted. Text, source and encoding are what is in force after the template. */
export interface SmsEntry extends AreaEntry<'sms', SmsRow> {
  /** Set when the batch was cancelled before the message's time. */
  readonly cancelledAt: string | null;
}

export type SmsRow = Readonly<ReturnType<typeof toRow>>;

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

/** What a text takes on the wire. */
export interface TextMeasure {
  readonly encoding: 'GSM7' | 'UCS2';
  /** Number of SMS: one of up to 160 septets or 70 UTF-16 units, else parts of up to 153 or 67. */
  readonly parts: number;
}

/** The row of a message that is accepted, as the client wrote it, under its template. */
export function toRow(
  { message, text, encoding, parts }: TextMeasure & { readonly message: MessageRequest; readonly text: string },
  { template = {}, clientBatchId }: BatchRequest,
  { subAccountId, batchId, umid }: Readonly<Record<'subAccountId' | 'batchId' | 'umid', string>>,
) {
  // A spread in this literal costs 15 µs a message.
  return {
    subAccountId,
    batchId,
    clientBatchId: clientBatchId ?? null,
    umid,
    clientMessageId: message.clientMessageId ?? null,
    destination: message.destination,
    country: message.country ?? null,
    source: message.source ?? template.source ?? null,
    text,
    encoding,
    parts,
    scheduled: message.scheduled ?? template.scheduled ?? null,
    expiry: message.expiry ?? template.expiry ?? null,
    dlrCallbackUrl: message.dlrCallbackUrl ?? template.dlrCallbackUrl ?? null,
  };
}

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
