import type { RowOutcomes } from '../../src/domain/row.js';
import { clientBatchIdOf, messageIdPrefix } from '../../src/kinds/ids.js';
import type { RequestPart } from '../../src/kinds/step-kind.js';
import type { Response } from '../../src/service/answer.js';

/** A part of a request of step 1: by default the whole of request 3, its rows 20 to 24. */
export function aPart(changes: Partial<RequestPart> = {}): RequestPart {
  return { planId: 'planplanplan', step: 1, request: 3, part: '', first: 20, requestFirst: 20, count: 5, ...changes };
}

export function aResponse(body: unknown, changes: Partial<Response> = {}): Response {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { kind: 'response', status: 200, headers: {}, body: bytes, ...changes };
}

/** The id of a planned row of the part's step. */
export function messageIdOf(part: RequestPart, row: number): string {
  return `${messageIdPrefix(part.planId, part.step)}${row}`;
}

/** What the service says of one message. */
export function aMessage(part: RequestPart, row: number, changes: Record<string, unknown> = {}) {
  const status = { code: 'QUEUED', description: 'SMS is accepted' };
  return { umid: `umid-${row}`, clientMessageId: messageIdOf(part, row), destination: '+65…', status, ...changes };
}

export const REJECTED = { status: { code: 'REJECTED', description: 'Invalid MSISDN format' } };

export function aBatchAnswer(part: RequestPart, messages: unknown, changes: Record<string, unknown> = {}) {
  const counts = { acceptedCount: part.count, rejectedCount: 0 };
  return { batchId: 'batch-1', clientBatchId: clientBatchIdOf(part), ...counts, messages, ...changes };
}

/** The rows of a part as an answer would name them, in order. */
export function rowsOf(part: RequestPart): number[] {
  return Array.from({ length: part.count }, (_, index) => part.first + index);
}

/** For each row its status, code and ids. */
export function told({ verdicts, rows }: RowOutcomes): [string, ...string[]][] {
  return rows.map(([index, ...ids]) => [`${verdicts[index]?.status} ${verdicts[index]?.code}`, ...ids]);
}

/** For each row `accepted`, `rejected` or `in-doubt`. */
export function statusesOf({ verdicts, rows }: RowOutcomes): (string | undefined)[] {
  return rows.map(([index]) => verdicts[index]?.status);
}
