import { readEvent } from '../../src/listen/event-file.js';

export const RECEIVED_AT = '2026-11-21T12:30:00.000Z';

/** The line of an event, as the listener writes it. */
export function anEventLine(event: object, eventId?: string): string {
  const arrived = readEvent(Buffer.from(JSON.stringify(event)), { eventId, signature: undefined }, RECEIVED_AT);
  if (arrived === undefined) throw new Error('the test made no event');
  return arrived.line;
}

// Bodies as the service posts them.

export function aGatewayEvent(changes: object = {}) {
  return {
    eventType: 'QUEUED',
    conversationId: 'c-1',
    timestamp: 1_800_000_000_123,
    data: { queueId: 'q1', queueName: 'Sales' },
    ...changes,
  };
}

export function aReceipt({
  payload = {},
  status = {},
  ...changes
}: { payload?: object; status?: object } & object = {}) {
  return {
    namespace: 'SMS',
    eventType: 'outbound_message_status_changed',
    payload: {
      umid: '9f2c6f6e-0000-4000-8000-000000000001',
      batchId: 'b-1',
      clientMessageId: 'p1-1',
      clientBatchId: 'p1',
      subAccountId: 'acme_hq',
      source: 'ACME',
      destination: '+6590000001',
      status: { state: 'delivered', detail: 'delivered', timestamp: '2026-11-21T12:00:00Z', ...status },
      price: { total: 0.0375, perSms: 0.0375, currency: 'EUR' },
      smsCount: 1,
      ...payload,
    },
    ...changes,
  };
}
