import { createHash } from 'node:crypto';
import { isObject } from '../domain/is-object.js';

/** `gateway`: an event of the chat gateway that the contract or its documentation names; `receipt`: a delivery receipt of an SMS; `unknown`: any other object. */
export type EventKind = 'gateway' | 'receipt' | 'unknown';

export type JsonObject = Readonly<Record<string, unknown>>;

/** One event as it came, and what Volley made of it. */
export interface ArrivedEvent {
  readonly kind: EventKind;
  /** Identifies the event: the same for each delivery of it. */
  readonly id: string;
  readonly event: JsonObject;
  /** The body's own text: numbers keep all digits, and fields their order. */
  readonly text: string;
  /** The header `x-8x8-signature`, where there was one. */
  readonly signature?: string;
}

/** What of a delivery stands in its headers. */
export interface EventHeaders {
  /** `x-8x8-event-id` */
  readonly eventId: string | undefined;
  /** `x-8x8-signature`: allows to verify later that the body is the service's. */
  readonly signature: string | undefined;
}

/** Contract, section Events: all that it names. */
const GATEWAY_EVENTS = new Set<unknown>(['QUEUED', 'AGENT_JOINED', 'ACTIVITY', 'MESSAGE']);
/** Documented: checks the address of a new webhook; it expects a 2xx, and belongs to no conversation. */
const WEBHOOK_CHECK = 'WEB_HOOK_VERIFY';
/** An id of these characters is kept; any other is digested, so that no sender controls the length of a line's head. */
const PLAIN_ID = /^[\x21-\x7e]{1,128}$/;
const PLAIN_PART = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Reads the body of a delivery: UTF-8 that is one JSON object, of whatever content. Undefined when it is anything else.
 */
export function readEvent(body: Uint8Array, { eventId, signature }: EventHeaders): ArrivedEvent | undefined {
  let text: string;
  let event: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body).trim();
    event = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(event)) return undefined;
  const kind = classifyEvent(event);
  const signed = signature === undefined ? {} : { signature };
  return { kind, id: identifyEvent({ kind, event, text, eventId }), event, text, ...signed };
}

function classifyEvent(event: JsonObject): EventKind {
  const { eventType, conversationId, namespace, payload } = event;
  if (GATEWAY_EVENTS.has(eventType) && typeof conversationId === 'string') return 'gateway';
  if (eventType === WEBHOOK_CHECK) return 'gateway';
  const isReceipt =
    namespace === 'SMS' &&
    eventType === 'outbound_message_status_changed' &&
    isObject(payload) &&
    typeof payload.umid === 'string' &&
    isObject(payload.status) &&
    typeof payload.status.state === 'string';
  return isReceipt ? 'receipt' : 'unknown';
}

/**
 * The service's own id of the event; else, of a receipt, umid, state, clientMessageId and time, as the rejected messages of a
 * batch share one umid; else the digest of the whole body.
 */
function identifyEvent(about: {
  kind: EventKind;
  event: JsonObject;
  text: string;
  eventId: string | undefined;
}): string {
  const { kind, event, text, eventId } = about;
  if (eventId !== undefined && eventId !== '') {
    return PLAIN_ID.test(eventId) ? `event:${eventId}` : `event-digest:${digest(eventId)}`;
  }
  return (kind === 'receipt' ? identifyReceipt(event) : undefined) ?? `body:${digest(text)}`;
}

function identifyReceipt({ payload }: JsonObject): string | undefined {
  if (!isObject(payload) || !isObject(payload.status)) return undefined;
  const { umid, clientMessageId } = payload;
  const { state, timestamp } = payload.status;
  // Only the last part may contain the separating colon.
  if (typeof umid !== 'string' || !PLAIN_PART.test(umid)) return undefined;
  if (typeof state !== 'string' || !PLAIN_PART.test(state)) return undefined;
  if (typeof timestamp !== 'string' || !PLAIN_ID.test(timestamp)) return undefined;
  return `receipt:${umid}:${state}:${shorten(clientMessageId)}:${timestamp}`;
}

/** Nothing for a message without an id; a digest, marked as one, for an id that is long or not plain. */
function shorten(clientMessageId: unknown): string {
  if (clientMessageId === undefined || clientMessageId === null) return '';
  const isPlain = typeof clientMessageId === 'string' && PLAIN_PART.test(clientMessageId);
  return isPlain ? clientMessageId : `#${digest(JSON.stringify(clientMessageId))}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
