import { isObject } from '../../domain/is-object.js';
import type { ServiceAddresses } from '../../job/job.js';
import { readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson, encodePathId, getRequest, jsonRequest, type WireRequest } from '../endpoint.js';
import { readId } from '../json-value.js';

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

/** Endpoint 3. Not idempotent. */
export const sendBatch: Endpoint<SmsBatch, SmsBatchAnswer> = {
  name: 'send an SMS batch',
  area: 'sms',
  isRepeatable: () => false,
  // Parts are not counted here: one for each message, at least.
  cost: ({ messages }) => ({ messages: messages.length, segments: messages.length }),
  request: (service, batch) => smsBatchRequest(service, encodeJson(batch)),
  read: (response) => readSmsBatchAnswer(readJsonBody(response)),
};

/**
 * Endpoint "Cancel batch": takes back what is scheduled and not sent yet. A second call cannot tell what the first one took back:
 * it is not repeated.
 */
export const cancelBatch: Endpoint<{ readonly batchId: string }, { readonly cancelledCount: number }> = {
  name: 'cancel an SMS batch',
  area: 'sms',
  isRepeatable: () => false,
  request: ({ bases, subAccountId }, { batchId }) => {
    const batch = encodePathId(batchId, 'the id of a batch');
    const path = `/api/v1/subaccounts/${encodeURIComponent(subAccountId)}/messages/batch/${batch}`;
    return { ...getRequest({ base: bases.sms, path }), method: 'DELETE' };
  },
  read: (response) => {
    const body = readJsonBody(response);
    const cancelledCount = isObject(body) ? countOf(body.cancelledCount) : undefined;
    return cancelledCount === undefined ? undefined : { cancelledCount };
  },
};

/** How a batch is posted, from its JSON text. Contract: endpoint 3. */
export function smsBatchRequest(service: ServiceAddresses, body: Buffer): WireRequest {
  const account = encodeURIComponent(service.subAccountId);
  return jsonRequest({ base: service.bases.sms, path: `/api/v1/subaccounts/${account}/messages/batch` }, body);
}

/** The answer to a batch, as far as it can be relied on. Contract: "SMS batch response body". */
export interface SmsBatchAnswer {
  readonly batchId: string;
  readonly clientBatchId: string | undefined;
  readonly acceptedCount: number | undefined;
  readonly rejectedCount: number | undefined;
  /** Undefined when the service gave none. Their order is not promised. */
  readonly messages: readonly SmsMessageAnswer[] | undefined;
}

export interface SmsMessageAnswer {
  readonly umid: string;
  readonly clientMessageId: unknown;
  /** As the service writes it, with or without a plus; '' when the answer has none. */
  readonly destination: string;
  /** `QUEUED` or `REJECTED`; '' when the answer has none. */
  readonly code: string;
  readonly description: string;
}

/** Undefined for a body that is no batch answer at all. */
export function readSmsBatchAnswer(body: unknown): SmsBatchAnswer | undefined {
  if (!isObject(body)) return undefined;
  const { messages } = body;
  if (!Array.isArray(messages) && messages !== null && messages !== undefined) return undefined;
  return {
    batchId: textOf(body.batchId),
    clientBatchId: typeof body.clientBatchId === 'string' ? body.clientBatchId : undefined,
    acceptedCount: countOf(body.acceptedCount),
    rejectedCount: countOf(body.rejectedCount),
    messages: Array.isArray(messages) ? messages.filter(isObject).map(readMessage) : undefined,
  };
}

function readMessage(message: Record<string, unknown>): SmsMessageAnswer {
  const status = isObject(message.status) ? message.status : {};
  return {
    umid: textOf(message.umid),
    clientMessageId: message.clientMessageId,
    destination: readId(message.destination) ?? '',
    code: textOf(status.code),
    description: textOf(status.description),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
