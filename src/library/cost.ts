import { type SmsBatch, sendBatch } from '../service/areas/sms.js';
import type { Endpoint } from '../service/endpoint.js';
import { countSegments } from '../template/segments.js';

/** What a call takes of its lane's limits on messages and on their parts; only an SMS batch has any. */
export function costOfCall(endpoint: Endpoint<never, unknown>, input: unknown): { messages: number; segments: number } {
  if (!Object.is(endpoint, sendBatch)) return { messages: 0, segments: 0 };
  const { messages, template } = input as SmsBatch;
  // An untyped program may omit the list; the service refuses that.
  if (!Array.isArray(messages)) return { messages: 1, segments: 1 };
  let segments = 0;
  for (const message of messages as SmsBatch['messages']) {
    const text = message.text ?? template?.text ?? '';
    segments += countSegments(text, message.encoding ?? template?.encoding ?? 'AUTO').segments;
  }
  return { messages: messages.length, segments };
}
