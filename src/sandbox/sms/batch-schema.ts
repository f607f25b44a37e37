import { z } from 'zod';
import { isObject } from '../../domain/is-object.js';
import { anObject, aValue, isWebAddress, refusedBy } from '../body-schema.js';
import { ERROR_CODE } from '../http-answer.js';
import type { EntryHead } from '../ledger/entry-head.js';

/** A batch whose form is right; single messages may still be refused. */
export type BatchRequest = z.output<ReturnType<typeof createBatchSchema>>;

/** What a message has of its own, or from the template. */
interface MessageFields {
  readonly text?: string;
  readonly source?: string;
  readonly encoding?: 'AUTO' | 'GSM7' | 'UCS2';
  readonly scheduled?: string;
  readonly expiry?: string;
  readonly dlrCallbackUrl?: string;
}

export interface MessageRequest extends MessageFields {
  readonly destination: string;
  readonly country?: string;
  readonly clientMessageId?: string;
}

/** A message that was accepted. Text, source and encoding are what is in force after the template. */
export interface SmsEntry extends EntryHead, SmsRow {
  readonly area: 'sms';
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

/** Limits of the service's documentation. */
const MAX_MESSAGES = 10_000;
const MAX_CLIENT_BATCH_ID = 20;
const MAX_CLIENT_MESSAGE_ID = 350;
const MAX_TEMPLATE_SOURCE = 16;
const MAX_SCHEDULE_MS = 7 * 86_400_000;

/** A field, what it must be where it is there, and the text and code that refuse the whole batch otherwise. */
type Rule = readonly [field: string, isRight: (value: unknown) => boolean, text: string, code: number];

const LENGTH_TEXT = (field: string, max: number) =>
  `Invalid ${field} value. Reached max allowed limit of ${max} characters`;

/** A whole body: with `messages`, or in the compact form with `destinations`. `now` in ms since 1970. */
export function createBatchSchema(now: () => number) {
  const shared: readonly Rule[] = [
    ['text', isString, 'Invalid Text value', ERROR_CODE.text],
    ['encoding', isEncoding, 'Invalid Encoding value', ERROR_CODE.encoding],
    ['scheduled', (value) => readTime(value) <= now() + MAX_SCHEDULE_MS, 'Invalid schedule time', ERROR_CODE.scheduled],
    ['expiry', (value) => !Number.isNaN(readTime(value)), 'Invalid Expiry value', ERROR_CODE.expiry],
    ['dlrCallbackUrl', isWebAddress, 'Invalid DlrCallbackUrl value', ERROR_CODE.receiptUrl],
    ['source', isString, 'Invalid Source value', ERROR_CODE.source],
  ];
  const ofTemplate: readonly Rule[] = [
    ...shared,
    // Of a message alone, too long a source refuses only that message.
    ['source', isUpTo(MAX_TEMPLATE_SOURCE), LENGTH_TEXT('source', MAX_TEMPLATE_SOURCE), ERROR_CODE.sourceTooLong],
  ];
  const ofMessage: readonly Rule[] = [
    ...shared,
    ['country', isCountry, 'Invalid Country value', ERROR_CODE.country],
    ['clientMessageId', isString, 'Invalid clientMessageId value', ERROR_CODE.invalidParameter],
    [
      'clientMessageId',
      isUpTo(MAX_CLIENT_MESSAGE_ID),
      LENGTH_TEXT('clientMessageId', MAX_CLIENT_MESSAGE_ID),
      ERROR_CODE.clientMessageIdTooLong,
    ],
  ];
  const missing = refusedBy('Messages are missing', ERROR_CODE.messagesMissing);

  const batch = z.object({
    clientBatchId: aValue<string>(isString, 'Invalid clientBatchId value')
      .refine(
        isUpTo(MAX_CLIENT_BATCH_ID),
        refusedBy(LENGTH_TEXT('clientBatchId', MAX_CLIENT_BATCH_ID), ERROR_CODE.clientBatchIdTooLong),
      )
      .optional(),
    includeMessagesInResponse: z.boolean('Invalid includeMessagesInResponse value').default(false),
    template: aValue<MessageFields>(isObject, 'Invalid template', ERROR_CODE.template)
      .check(({ value, issues }) => {
        const fault = findFault(value, ofTemplate);
        if (fault !== undefined) issues.push(toIssue('template', fault));
      })
      .default({}),
    // By hand: as schemas of their fields, messages cost a fifth of the batches in a second.
    messages: aValue<readonly MessageRequest[]>((value) => value !== undefined, missing.error, missing.params.code)
      .refine(Array.isArray, refusedBy('One of messages and destinations must be an array'))
      .refine((list) => list.length > 0, missing)
      .refine(
        (list) => list.length <= MAX_MESSAGES,
        refusedBy(`Too many messages. Max allowed is ${MAX_MESSAGES}`, ERROR_CODE.tooManyMessages),
      )
      .check(({ value, issues }) => {
        const place = value.findIndex((message) => findMessageFault(message, ofMessage) !== undefined);
        const fault = place === -1 ? undefined : findMessageFault(value[place], ofMessage);
        if (fault !== undefined) issues.push(toIssue(`messages[${place}]`, fault));
      }),
  });
  return z.preprocess(expandDestinations, anObject('Request body must be a JSON object').pipe(batch));
}

/** Both forms at once are invalid. */
function expandDestinations(body: unknown): unknown {
  if (!isObject(body) || body.destinations === undefined) return body;
  const { destinations, messages, ...rest } = body;
  if (messages !== undefined) return { ...rest, messages: 'both' };
  const isList = Array.isArray(destinations);
  return { ...rest, messages: isList ? destinations.map((destination) => ({ destination })) : destinations };
}

const NO_OBJECT: Rule = ['', isObject, 'must be an object', ERROR_CODE.invalidParameter];
const NO_DESTINATION: Rule = [
  'destination',
  isString,
  'Invalid MSISDN format (not E.164 international number)',
  ERROR_CODE.invalidMsisdn,
];

function findMessageFault(message: unknown, rules: readonly Rule[]): Rule | undefined {
  if (!isObject(message)) return NO_OBJECT;
  return isString(message.destination) ? findFault(message, rules) : NO_DESTINATION;
}

function findFault(fields: object, rules: readonly Rule[]): Rule | undefined {
  for (const rule of rules) {
    const value = (fields as Readonly<Record<string, unknown>>)[rule[0]];
    if (value !== undefined && !rule[1](value)) return rule;
  }
  return undefined;
}

function toIssue(place: string, [, , text, code]: Rule) {
  return { code: 'custom' as const, message: `${place}: ${text}`, params: { code }, input: undefined };
}

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970 of an ISO 8601 time with its offset; NaN for anything else. */
function readTime(value: unknown): number {
  return typeof value === 'string' && ISO_WITH_OFFSET.test(value) ? Date.parse(value) : Number.NaN;
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

function isUpTo(max: number) {
  return (value: unknown) => String(value).length <= max;
}

function isEncoding(value: unknown): boolean {
  return value === 'AUTO' || value === 'GSM7' || value === 'UCS2';
}

function isCountry(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z]{2}$/.test(value);
}
