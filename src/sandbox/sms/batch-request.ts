import { isObject } from '../../domain/is-object.js';
import { ERROR_CODE, type RequestRefusal } from '../http-answer.js';

/** A batch whose form is right; single messages may still be refused (message.ts). */
export interface BatchRequest {
  readonly clientBatchId: string | null;
  readonly includeMessages: boolean;
  readonly template: MessageFields;
  readonly messages: readonly MessageRequest[];
}

/** What a message has of its own, or from the template. */
export interface MessageFields {
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

/** Limits of the service's documentation. */
const MAX_MESSAGES = 10_000;
const MAX_CLIENT_BATCH_ID = 20;
const MAX_CLIENT_MESSAGE_ID = 350;
const MAX_TEMPLATE_SOURCE = 16;
const MAX_SCHEDULE_DAYS = 7;

/** Checks a whole body, first fault first: with `messages`, or in the compact form with `destinations`. `now` in ms since 1970. */
export function readBatchRequest(body: unknown, now: number): BatchRequest | RequestRefusal {
  if (!isObject(body)) return { code: ERROR_CODE.invalidParameter, message: 'Request body must be a JSON object' };
  const { clientBatchId, includeMessagesInResponse, template = {} } = body;
  const messages = expandDestinations(body);
  const refusal =
    refuseClientBatchId(clientBatchId) ??
    refuseInclude(includeMessagesInResponse) ??
    refuseTemplate(template, now) ??
    refuseMessages(messages, now);
  if (refusal !== undefined) return refusal;
  return {
    clientBatchId: (clientBatchId as string | undefined) ?? null,
    includeMessages: includeMessagesInResponse === true,
    template: template as MessageFields,
    messages: messages as MessageRequest[],
  };
}

/** Both forms at once are invalid. */
function expandDestinations({ messages, destinations }: Record<string, unknown>): unknown {
  if (destinations === undefined) return messages;
  if (messages !== undefined) return 'both';
  return Array.isArray(destinations) ? destinations.map((destination) => ({ destination })) : destinations;
}

function refuseClientBatchId(value: unknown): RequestRefusal | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return { code: ERROR_CODE.invalidParameter, message: 'Invalid clientBatchId value' };
  if (value.length <= MAX_CLIENT_BATCH_ID) return undefined;
  return tooLong(ERROR_CODE.clientBatchIdTooLong, 'clientBatchId', MAX_CLIENT_BATCH_ID);
}

function refuseInclude(value: unknown): RequestRefusal | undefined {
  if (value === undefined || typeof value === 'boolean') return undefined;
  return { code: ERROR_CODE.invalidParameter, message: 'Invalid includeMessagesInResponse value' };
}

function refuseTemplate(template: unknown, now: number): RequestRefusal | undefined {
  if (!isObject(template)) return { code: ERROR_CODE.template, message: 'Invalid template' };
  const refusal = refuseFields(template, TEMPLATE_CHECKS, now);
  return refusal === undefined ? undefined : { ...refusal, message: `template: ${refusal.message}` };
}

function refuseMessages(messages: unknown, now: number): RequestRefusal | undefined {
  if (messages === undefined) return { code: ERROR_CODE.messagesMissing, message: 'Messages are missing' };
  if (!Array.isArray(messages)) {
    return { code: ERROR_CODE.invalidParameter, message: 'One of messages and destinations must be an array' };
  }
  if (messages.length === 0) return { code: ERROR_CODE.messagesMissing, message: 'Messages are missing' };
  if (messages.length > MAX_MESSAGES) {
    return { code: ERROR_CODE.tooManyMessages, message: `Too many messages. Max allowed is ${MAX_MESSAGES}` };
  }
  for (const [place, message] of messages.entries()) {
    const refusal = refuseMessage(message, now);
    if (refusal !== undefined) return { ...refusal, message: `messages[${place}]: ${refusal.message}` };
  }
  return undefined;
}

function refuseMessage(message: unknown, now: number): RequestRefusal | undefined {
  if (!isObject(message)) return { code: ERROR_CODE.invalidParameter, message: 'must be an object' };
  if (typeof message.destination !== 'string') {
    return { code: ERROR_CODE.invalidMsisdn, message: 'Invalid MSISDN format (not E.164 international number)' };
  }
  return refuseFields(message, MESSAGE_CHECKS, now);
}

type Check = (value: unknown, now: number) => RequestRefusal | undefined;

const SHARED_CHECKS: readonly (readonly [string, Check])[] = [
  ['text', (value) => unless(typeof value === 'string', ERROR_CODE.text, 'Invalid Text value')],
  [
    'encoding',
    (value) =>
      unless(value === 'AUTO' || value === 'GSM7' || value === 'UCS2', ERROR_CODE.encoding, 'Invalid Encoding value'),
  ],
  ['scheduled', checkScheduled],
  ['expiry', (value) => unless(readTime(value) !== undefined, ERROR_CODE.expiry, 'Invalid Expiry value')],
  ['dlrCallbackUrl', (value) => unless(isWebAddress(value), ERROR_CODE.receiptUrl, 'Invalid DlrCallbackUrl value')],
];

const TEMPLATE_CHECKS: readonly (readonly [string, Check])[] = [...SHARED_CHECKS, ['source', checkTemplateSource]];

const MESSAGE_CHECKS: readonly (readonly [string, Check])[] = [
  ...SHARED_CHECKS,
  // Too long a source refuses the message alone, see message.ts.
  ['source', (value) => unless(typeof value === 'string', ERROR_CODE.source, 'Invalid Source value')],
  ['country', (value) => unless(isCountry(value), ERROR_CODE.country, 'Invalid Country value')],
  ['clientMessageId', checkClientMessageId],
];

function refuseFields(
  fields: Readonly<Record<string, unknown>>,
  checks: readonly (readonly [string, Check])[],
  now: number,
): RequestRefusal | undefined {
  for (const [field, check] of checks) {
    const value = fields[field];
    const refusal = value === undefined ? undefined : check(value, now);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkScheduled(value: unknown, now: number): RequestRefusal | undefined {
  const time = readTime(value);
  const isWithinReach = time !== undefined && time <= now + MAX_SCHEDULE_DAYS * 86_400_000;
  return unless(isWithinReach, ERROR_CODE.scheduled, 'Invalid schedule time');
}

function checkTemplateSource(value: unknown): RequestRefusal | undefined {
  if (typeof value !== 'string') return { code: ERROR_CODE.source, message: 'Invalid Source value' };
  return value.length > MAX_TEMPLATE_SOURCE
    ? tooLong(ERROR_CODE.sourceTooLong, 'source', MAX_TEMPLATE_SOURCE)
    : undefined;
}

function checkClientMessageId(value: unknown): RequestRefusal | undefined {
  if (typeof value !== 'string') {
    return { code: ERROR_CODE.invalidParameter, message: 'Invalid clientMessageId value' };
  }
  return value.length > MAX_CLIENT_MESSAGE_ID
    ? tooLong(ERROR_CODE.clientMessageIdTooLong, 'clientMessageId', MAX_CLIENT_MESSAGE_ID)
    : undefined;
}

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970 of an ISO 8601 time with its offset; undefined for anything else. */
function readTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || !ISO_WITH_OFFSET.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function isCountry(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z]{2}$/.test(value);
}

function unless(isRight: boolean, code: number, message: string): RequestRefusal | undefined {
  return isRight ? undefined : { code, message };
}

function tooLong(code: number, field: string, max: number): RequestRefusal {
  return { code, message: `Invalid ${field} value. Reached max allowed limit of ${max} characters` };
}
