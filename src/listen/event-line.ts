import type { ArrivedEvent, EventKind, JsonObject } from './received-event.js';

/**
 * The file of events: NDJSON, UTF-8, one line an event, in the order in which they became durable:
 *
 *     {"format":1,"receivedAt":"2026-11-03T09:15:00.000Z","kind":"gateway","id":"event:7f…","event":{…}}
 *
 * `receivedAt` is our clock, `kind` is gateway, receipt or unknown, `id` stands once in a file, `event` is the body as it
 * came, with blanks for its line breaks. Behind it stands `"signature":"…"` where the delivery had the header
 * `x-8x8-signature`: a detached JWS over the body. A line without its line break at the end was never acknowledged.
 */
export const EVENT_FORMAT = 1;

/** Every line begins so; a file that begins otherwise is not an event file. */
export const LINE_START = `{"format":${EVENT_FORMAT},"receivedAt":"`;

/** An event that stands in the file. */
export interface StoredEvent {
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  readonly kind: EventKind;
  readonly id: string;
  readonly event: JsonObject;
  readonly signature?: string;
}

/** The line of an event, its line break included. */
export function encodeEventLine({ kind, id, text, signature }: ArrivedEvent, receivedAt: string): string {
  // Inside a JSON string a line break can only be escaped: these stand between tokens.
  const body = text.replace(/[\r\n]/g, ' ');
  const signed = signature === undefined ? '' : `,"signature":${JSON.stringify(signature)}`;
  return `${LINE_START}${receivedAt}","kind":"${kind}","id":${JSON.stringify(id)},"event":${body}${signed}}\n`;
}

/** Undefined for any other line. */
export function decodeEventLine(line: string): StoredEvent | undefined {
  if (!line.startsWith(LINE_START)) return undefined;
  try {
    const { receivedAt, kind, id, event, signature } = JSON.parse(line);
    const isWhole = typeof kind === 'string' && typeof id === 'string' && typeof event === 'object' && event !== null;
    const signed = typeof signature === 'string' ? { signature } : {};
    return isWhole ? { receivedAt, kind: kind as EventKind, id, event, ...signed } : undefined;
  } catch {
    return undefined;
  }
}
