import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import { ENDPOINTS } from '../../domain/service-facts.js';
import { readId, readInteger, readJsonBody, readText } from '../answer.js';
import { defineEndpoint } from '../endpoint.js';

/** A batch as it is posted. Contract: "SMS batch request body". */
export interface SmsBatch {
  /** 1 to 10,000. */
  readonly messages: readonly SmsMessage[];
  readonly template?: Partial<Omit<SmsMessage, 'destination' | 'clientMessageId'>>;
  /** At most 20 characters. */
  readonly clientBatchId?: string;
  /** True makes the answer's `messages` a list. */
  readonly includeMessagesInResponse?: boolean;
}

export interface SmsMessage {
  /** E.164, with the plus. */
  readonly destination: string;
  readonly text?: string;
  readonly source?: string;
  readonly encoding?: 'AUTO' | 'GSM7' | 'UCS2';
  readonly clientMessageId?: string;
  /** ISO 8601 with offset, at most 7 days ahead. */
  readonly scheduled?: string;
  readonly expiry?: string;
  readonly dlrCallbackUrl?: string;
}

export const sendBatch = defineEndpoint(
  ENDPOINTS.sendBatch,
  (batch: SmsBatch) => {
    assertBatch(batch);
    return { body: batch };
  },
  (response) => readSmsBatchAnswer(readJsonBody(response)),
);

/** Refuses what a program without types may give, as nothing can be counted of it. */
function assertBatch({ messages, template }: { readonly messages?: unknown; readonly template?: unknown }): void {
  const refuse = (so: string) => new UserError('bad-input', `Cannot send an SMS batch: ${so}`);
  if (!Array.isArray(messages)) throw refuse('it has no messages, expected a list');
  if (template !== undefined && !isObject(template)) throw refuse('its template is not an object, expected one');
  for (const [index, message] of [...messages, template ?? {}].entries()) {
    const name = index === messages.length ? 'template' : `messages[${index}]`;
    if (!isObject(message)) throw refuse(`${name} is not an object, expected one`);
    const { text } = message;
    if (text !== undefined && typeof text !== 'string') throw refuse(`${name}.text is not text, expected a string`);
  }
}

export const cancelBatch = defineEndpoint(
  ENDPOINTS.cancelBatch,
  (ids: { readonly batchId: string }) => ({ ids }),
  (response) => {
    const body = readJsonBody(response);
    const cancelledCount = isObject(body) ? readInteger(body.cancelledCount) : undefined;
    return cancelledCount === undefined ? undefined : { cancelledCount };
  },
);

/** The answer to a batch, as far as it can be relied on. Contract: "SMS batch response body". */
export type SmsBatchAnswer = Readonly<NonNullable<ReturnType<typeof readSmsBatchAnswer>>>;
export type SmsMessageAnswer = Readonly<ReturnType<typeof readMessage>>;

/** Reads the answer to a batch; undefined for a body that is none at all. */
export function readSmsBatchAnswer(body: unknown) {
  if (!isObject(body)) return undefined;
  const { messages } = body;
  if (!Array.isArray(messages) && messages !== null && messages !== undefined) return undefined;
  return {
    batchId: readId(body.batchId) ?? '',
    clientBatchId: readText(body.clientBatchId),
    acceptedCount: readInteger(body.acceptedCount),
    rejectedCount: readInteger(body.rejectedCount),
    /** In no promised order; undefined when the service gave no list. An empty list says of no row that it was accepted. */
    messages: Array.isArray(messages) ? messages.filter(isObject).map(readMessage) : undefined,
  };
}

function readMessage(message: Record<string, unknown>) {
  const status = isObject(message.status) ? message.status : {};
  return {
    umid: readId(message.umid) ?? '',
    clientMessageId: message.clientMessageId,
    /** As the service writes it, with or without a plus; '' when the answer has none. */
    destination: readId(message.destination) ?? '',
    /** `QUEUED` or `REJECTED`; '' when the answer has none. */
    code: readText(status.code)?.toUpperCase() ?? '',
    description: readText(status.description) ?? '',
  };
}
