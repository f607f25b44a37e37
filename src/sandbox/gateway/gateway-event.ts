import type { Fields } from '../ledger/entry-head.js';
import type { GatewayRow } from './gateway-entry.js';
import { type Conversation, QUEUES } from './gateway-store.js';

/** The event for the client application; undefined for what has none. `timestamp` in ms since 1970. */
export function buildEvent(row: GatewayRow, conversation: Conversation, timestamp: number): Fields | undefined {
  const { conversationId, queueId, agent } = conversation;
  const head = (eventType: string) => ({ eventType, conversationId, timestamp });
  switch (row.kind) {
    case 'conversation':
      return { ...head('QUEUED'), data: { queueId, queueName: QUEUES[queueId] ?? queueId } };
    case 'agent-joined':
      return { ...head('AGENT_JOINED'), messageType: 'SYSTEM', agentId: row.agentId, agentName: row.agentName };
    case 'agent-message':
      return {
        ...head('MESSAGE'),
        data: { isEcho: false, text: row.text, sender: { id: agent?.id ?? '', type: 'agent' } },
      };
    case 'message':
      // The application's own messages are echoed, and marked so.
      return { ...head('MESSAGE'), data: { isEcho: true, text: row.body.text, sender: { id: 'user', type: 'user' } } };
    default:
      return undefined;
  }
}

/** Documented: checks the address of a new webhook; it has no conversation and no time. */
export function buildCheckEvent(version: string): Fields {
  return { notificationVersion: version, eventType: 'WEB_HOOK_VERIFY' };
}

/** An agent types; this changes nothing, so it is in no ledger. */
export function buildTypingEvent(conversationId: string, agentId: string, timestamp: number): Fields {
  const value = { users: [{ type: 'agent', id: agentId }] };
  return { eventType: 'ACTIVITY', conversationId, timestamp, data: { name: 'typing', value } };
}
