import { isObject } from '../../domain/is-object.js';
import type { AreaEntry } from '../area.js';
import { isCountry, isEncoding, isWebAddress, NO_OBJECT } from '../body-schema.js';
import { ERROR_CODE, INVALID_MSISDN, type RefusedRequest } from '../http-answer.js';

/** A batch whose form is right; single messages may still be refused. */
export interface BatchRequest {
  readonly clientBatchId?: string;
  readonly includeMessagesInResponse?: boolean;
  readonly template?: MessageFields;
  readonly messages: readonly MessageRequest[];
}

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

/** A field, what it must be where it is there, and the text and code that refuse the whole batch otherwise. `now` in ms since 1970. */
type Rule = readonly [field: string, isRight: (value: unknown, now: number) => boolean, text: string, code: number];

const MAX_SCHEDULE_MS = 7 * 86_400_000;
const MAX_MESSAGES = 10_000;

/** Limits of the service's documentation, as are those below. */
const BATCH_RULES: readonly Rule[] = [
  ['clientBatchId', isString, 'Invalid clientBatchId value', ERROR_CODE.invalidParameter],
  isUpTo('clientBatchId', 20, ERROR_CODE.clientBatchIdTooLong),
  [
    'includeMessagesInResponse',
    (value) => typeof value === 'boolean',
    'Invalid includeMessagesInResponse value',
    ERROR_CODE.invalidParameter,
  ],
  ['template', isObject, 'Invalid template', ERROR_CODE.template],
  ['messages', (value) => value !== undefined, 'Messages are missing', ERROR_CODE.messagesMissing],
  ['messages', Array.isArray, 'One of messages and destinations must be an array', ERROR_CODE.invalidParameter],
  ['messages', (value) => sizeOf(value) > 0, 'Messages are missing', ERROR_CODE.messagesMissing],
  [
    'messages',
    (value) => sizeOf(value) <= MAX_MESSAGES,
    `Too many messages. Max allowed is ${MAX_MESSAGES}`,
    ERROR_CODE.tooManyMessages,
  ],
];

const SHARED_RULES: readonly Rule[] = [
  ['text', isString, 'Invalid Text value', ERROR_CODE.text],
  ['encoding', isEncoding, 'Invalid Encoding value', ERROR_CODE.encoding],
  [
    'scheduled',
    (value, now) => readTime(value) <= now + MAX_SCHEDULE_MS,
    'Invalid schedule time',
    ERROR_CODE.scheduled,
  ],
  ['expiry', (value) => !Number.isNaN(readTime(value)), 'Invalid Expiry value', ERROR_CODE.expiry],
  ['dlrCallbackUrl', isWebAddress, 'Invalid DlrCallbackUrl value', ERROR_CODE.receiptUrl],
  ['source', isString, 'Invalid Source value', ERROR_CODE.source],
];

/** Of a message alone, too long a source refuses only that message. */
const TEMPLATE_RULES: readonly Rule[] = [...SHARED_RULES, isUpTo('source', 16, ERROR_CODE.sourceTooLong)];

const MESSAGE_RULES: readonly Rule[] = [
  ['destination', isString, INVALID_MSISDN, ERROR_CODE.invalidMsisdn],
  ...SHARED_RULES,
  ['country', isCountry, 'Invalid Country value', ERROR_CODE.country],
  ['clientMessageId', isString, 'Invalid clientMessageId value', ERROR_CODE.invalidParameter],
  isUpTo('clientMessageId', 350, ERROR_CODE.clientMessageIdTooLong),
];

/**
 * A whole body: with `messages`, or in the compact form with `destinations`. `now` in ms since 1970. By hand: as schemas
 * of their fields, messages cost a fifth of the batches in a second.
 */
export function checkBatch(body: unknown, now: number): { body: BatchRequest } | RefusedRequest {
  if (!isObject(body)) return { status: 400, message: NO_OBJECT };
  const batch = expandDestinations(body);
  const fault = findFault(batch, BATCH_RULES, now, 'messages');
  if (fault !== undefined) return refuse('', fault);
  const { template = {}, messages } = batch as unknown as BatchRequest;
  const templateFault = findFault(template, TEMPLATE_RULES, now);
  if (templateFault !== undefined) return refuse('template: ', templateFault);
  for (let place = 0; place < messages.length; place++) {
    const message: unknown = messages[place];
    const messageFault = isObject(message) ? findFault(message, MESSAGE_RULES, now, 'destination') : NO_MESSAGE;
    if (messageFault !== undefined) return refuse(`messages[${place}]: `, messageFault);
  }
  return { body: batch as unknown as BatchRequest };
}

/** Both forms at once are invalid. */
function expandDestinations({ destinations, ...batch }: Record<string, unknown>): Record<string, unknown> {
  if (destinations === undefined) return batch;
  if (batch.messages !== undefined) return { ...batch, messages: 'both' };
  const isList = Array.isArray(destinations);
  return { ...batch, messages: isList ? destinations.map((destination) => ({ destination })) : destinations };
}

const NO_MESSAGE: Rule = ['', isObject, 'must be an object', ERROR_CODE.invalidParameter];

/** The first rule that a field breaks; all fields but `required` may be missing. */
function findFault(fields: object, rules: readonly Rule[], now: number, required?: string): Rule | undefined {
  for (const rule of rules) {
    const value = (fields as Readonly<Record<string, unknown>>)[rule[0]];
    if ((value !== undefined || rule[0] === required) && !rule[1](value, now)) return rule;
  }
  return undefined;
}

function refuse(place: string, [, , text, code]: Rule): RefusedRequest {
  return { status: 400, code, message: `${place}${text}` };
}

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970 of an ISO 8601 time with its offset; NaN for anything else. */
function readTime(value: unknown): number {
  return typeof value === 'string' && ISO_WITH_OFFSET.test(value) ? Date.parse(value) : Number.NaN;
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

function sizeOf(value: unknown): number {
  return (value as string | readonly unknown[]).length;
}

function isUpTo(field: string, max: number, code: number): Rule {
  const text = `Invalid ${field} value. Reached max allowed limit of ${max} characters`;
  return [field, (value) => sizeOf(value) <= max, text, code];
}
