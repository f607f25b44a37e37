import type { ServiceSettings } from '../job/job.js';

/** Where a batch is posted. Contract: endpoint 3. */
export function smsBatchCall(service: ServiceSettings): { method: 'POST'; base: string; path: string } {
  const account = encodeURIComponent(service.subAccountId);
  return { method: 'POST', base: service.bases.sms, path: `/api/v1/subaccounts/${account}/messages/batch` };
}

/** The answer to a batch, as far as it can be relied on. Contract: "SMS batch response body"; facts: SMS batch. */
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
    code: textOf(status.code),
    description: textOf(status.description),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
