import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { InternalError, messageOf, UserError } from '../domain/errors.js';
import { isObject, parseJson } from '../domain/is-object.js';
import { parseServiceTime } from '../domain/stated-time.js';
import type { Log } from '../ports/log.js';
import { KeySet, openAppendedFile } from '../storage/appended-file.js';
import type { FileFacts, Files } from '../storage/files.js';
import { splitLines } from '../storage/split-lines.js';

/**
 * A line of the file of events: NDJSON, UTF-8, one line an event, in the order in which they became durable:
 *
 *     {"format":1,"receivedAt":"2026-11-03T09:15:00.000Z","kind":"gateway","id":"event:7f…","event":{…}}
 *
 * `receivedAt` is our clock, `id` stands once in a file, `event` is the body as it came, with blanks for its line breaks.
 * Behind it stands `"signature":"…"` where the delivery had the header `x-8x8-signature`: a detached JWS over the body.
 */
const EVENT_FORMAT = 1;

/** Every line begins so; a file that begins otherwise is not an event file. */
const LINE_START = `{"format":${EVENT_FORMAT},"receivedAt":"`;

/** An event that stands in the file. */
export interface StoredEvent {
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /**
   * `gateway`: an event that the contract or its documentation names; `receipt`: a delivery receipt of an SMS; `inbound`: an SMS that a
   * person sent; `unknown`: any other object.
   */
  readonly kind: 'gateway' | 'receipt' | 'inbound' | 'unknown';
  /** Identifies the event: the same for each delivery of it. */
  readonly id: string;
  readonly event: Readonly<Record<string, unknown>>;
  readonly signature?: string;
}

/** An event that came. */
export type ArrivedEvent = NonNullable<ReturnType<typeof readEvent>>;

/** What of a delivery stands in its headers. */
export interface EventHeaders {
  /** `x-8x8-event-id`, documented: the same for each delivery of an event. */
  readonly eventId: string | undefined;
  /** `x-8x8-signature`: allows to verify later that the body is the service's. */
  readonly signature: string | undefined;
}

/** Reads a delivery, whose body is UTF-8 that is one JSON object, of whatever content. Undefined when it is anything else. */
export function readEvent(body: Uint8Array, { eventId, signature }: EventHeaders, receivedAt: string) {
  const text = isUtf8(body) ? new TextDecoder().decode(body).trim() : '';
  const event: unknown = parseJson(text);
  if (!isObject(event)) return undefined;
  const kind = classifyEvent(event);
  const id = readOwnId(eventId) ?? (kind === 'receipt' ? identifyReceipt(event) : undefined) ?? `body:${digest(text)}`;
  const signed = signature === undefined ? '' : `,"signature":${JSON.stringify(signature)}`;
  // Its own text: numbers keep all digits. Inside a JSON string a line break can only be escaped: these stand between tokens.
  const kept = text.replace(/[\r\n]/g, ' ');
  const line = `${LINE_START}${receivedAt}","kind":"${kind}","id":${JSON.stringify(id)},"event":${kept}${signed}}\n`;
  const message = kind === 'inbound' ? readInbound(event, id) : undefined;
  /** The id that a receipt's sender gave the message. */
  const messageId = kind === 'receipt' && isObject(event.payload) ? event.payload.clientMessageId : undefined;
  /** `line`: its line break included. */
  return { kind, id, line, message, messageId };
}

/** Documented ("Inbound SMS"): `source` is the number that it came from, `body` its text. */
function readInbound({ payload }: Record<string, unknown>, eventId: string) {
  if (!isObject(payload)) return undefined;
  const { umid, source, body, timestamp } = payload;
  if (typeof body !== 'string') return undefined;
  const id = typeof umid === 'string' && PLAIN_PART.test(umid) ? umid : digest(eventId);
  const sentMs = typeof timestamp === 'string' ? parseServiceTime(timestamp) : Number.NaN;
  const at = Number.isNaN(sentMs) ? undefined : new Date(sentMs).toISOString();
  return {
    source: String(source),
    text: body,
    /** Identifies the message: the same for each delivery of it. */
    id,
    /** When the service got it, ISO 8601 in UTC; undefined where it does not say. */
    at,
  };
}

/** Reads a line of the file of events; undefined for any other line. */
export function decodeEventLine(line: string): StoredEvent | undefined {
  if (!line.startsWith(LINE_START)) return undefined;
  const { format: _, ...stored } = parseJson(line) ?? {};
  const isWhole = typeof stored.kind === 'string' && typeof stored.id === 'string' && isObject(stored.event);
  return isWhole ? stored : undefined;
}

/** Contract, section Events: all that it names. */
const GATEWAY_EVENTS = new Set<unknown>(['QUEUED', 'AGENT_JOINED', 'ACTIVITY', 'MESSAGE']);
/** Documented: checks the address of a new webhook; it expects a 2xx, and belongs to no conversation. */
const WEBHOOK_CHECK = 'WEB_HOOK_VERIFY';

function classifyEvent({ eventType, conversationId, namespace, payload }: Record<string, unknown>) {
  if (GATEWAY_EVENTS.has(eventType) && typeof conversationId === 'string') return 'gateway';
  if (eventType === WEBHOOK_CHECK) return 'gateway';
  const isReceipt =
    namespace === 'SMS' &&
    eventType === 'outbound_message_status_changed' &&
    isObject(payload) &&
    typeof payload.umid === 'string' &&
    isObject(payload.status) &&
    typeof payload.status.state === 'string';
  if (isReceipt) return 'receipt';
  const isInbound = namespace === 'SMS' && eventType === 'inbound_message_received' && isObject(payload);
  return isInbound ? 'inbound' : 'unknown';
}

/** An id of these characters is kept; any other is digested, so that no sender controls the length of a line's head. */
const PLAIN_ID = /^[\x21-\x7e]{1,128}$/;
const PLAIN_PART = /^[A-Za-z0-9_.-]{1,64}$/;

/** The service's own id of the event. */
function readOwnId(eventId: string | undefined): string | undefined {
  if (eventId === undefined || eventId === '') return undefined;
  return PLAIN_ID.test(eventId) ? `event:${eventId}` : `event-digest:${digest(eventId)}`;
}

/** Identifies a receipt by umid, state, clientMessageId and time: the rejected messages of a batch share one umid. */
function identifyReceipt({ payload }: Record<string, unknown>): string | undefined {
  if (!isObject(payload) || !isObject(payload.status)) return undefined;
  const { umid, clientMessageId: given } = payload;
  const clientMessageId = given ?? '';
  const { state, timestamp } = payload.status;
  // Only the last part may contain the separating colon.
  if (typeof umid !== 'string' || !PLAIN_PART.test(umid)) return undefined;
  if (typeof state !== 'string' || !PLAIN_PART.test(state)) return undefined;
  if (typeof timestamp !== 'string' || !PLAIN_ID.test(timestamp)) return undefined;
  if (typeof clientMessageId !== 'string') return undefined;
  // A digest, marked as one, stands for an id that is long or not plain; nothing for none.
  const isPlain = clientMessageId === '' || PLAIN_PART.test(clientMessageId);
  return `receipt:${umid}:${state}:${isPlain ? clientMessageId : `#${digest(clientMessageId)}`}:${timestamp}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export type EventFile = Awaited<ReturnType<typeof openEventFile>>;

/**
 * Opens a file of events to append to it, created if missing, and learns the ids in it; a torn last line is cut off.
 * `assertHeld` is asked before each write, and throws when another process may have taken the file. After a failed write,
 * which `onFailure` gets, every event is refused.
 */
export async function openEventFile(
  path: string,
  { files, log, assertHeld }: { files: Files; log: Log; assertHeld: () => Promise<void> },
  onFailure: (error: Error) => void,
) {
  const openFile = async () => {
    const known = new KeySet();
    const { events, goodBytes, tornBytes } = await readEventFile(files, path, ({ id }) => known.add(id));
    const opened = await files.openAppend(path);
    try {
      if (tornBytes > 0) {
        await opened.truncate(goodBytes);
        log.warn(`cut off ${tornBytes} bytes of an incomplete event, which was never acknowledged`, { tornBytes });
      }
      // A killed listener may have written events without a sync; as known events they will be acknowledged.
      if (events > 0 || tornBytes > 0) await opened.sync();
    } catch (error) {
      await opened.close();
      throw error;
    }
    if (events > 0) log.info(`resumes a file of ${countOf(events, 'event')}`, { events });
    return { file: opened, known };
  };
  const file = await openAppendedFile(path, { files, openFile, assertHeld, describeFailure, onFailure });
  return {
    /**
     * However often an event comes, it is written once. Resolves when it is durable, now or since earlier; rejects when
     * the file cannot be written.
     */
    add: (id: string, bytes: Buffer) => file.add({ id, bytes }),
    /** Waits for pending writes, then closes the file; throws what ended the writing, if anything did. */
    close: async () => {
      const failure = await file.close(new InternalError('write-failed', 'Cannot write an event: the file is closed'));
      if (failure !== undefined) throw failure;
    },
  };
}

function describeFailure(cause: unknown): Error {
  if (cause instanceof UserError) return cause;
  const message = `Cannot write events: ${messageOf(cause)}. What was not written was not acknowledged`;
  return new InternalError('write-failed', message, cause);
}

/**
 * Calls `visit` for every event of a file in order; a missing file has none. Refuses, with the line, a file that holds
 * anything but events: nothing in it is ever overwritten or cut off, except a torn last line, which was never
 * acknowledged. `goodBytes` reach to the end of the last whole line.
 */
export async function readEventFile(files: Files, path: string, visit: (event: StoredEvent) => void) {
  const stat = await files.stat(path);
  if (stat === undefined) return { events: 0, goodBytes: 0, tornBytes: 0 };
  assertIsFile(stat, path);
  await using file = closing(await files.openRead(path));
  let events = 0;
  let goodBytes = 0;
  for await (const { bytes, isWhole } of splitLines(file)) {
    const event = isWhole ? decodeEventLine(bytes.toString()) : undefined;
    if (event === undefined) {
      if (!isWhole && isTornLine(bytes)) return { events, goodBytes, tornBytes: bytes.length };
      throw refuseLine(path, events + 1);
    }
    visit(event);
    events += 1;
    goodBytes += bytes.length + 1;
  }
  return { events, goodBytes, tornBytes: 0 };
}

/** The beginning of an event line, or the zeros that a power cut leaves. */
function isTornLine(tail: Buffer): boolean {
  const start = Buffer.from(LINE_START).subarray(0, tail.length);
  return tail.subarray(0, start.length).equals(start) || tail.every((byte) => byte === 0);
}

function refuseLine(path: string, line: number): UserError {
  return new UserError(
    'bad-input',
    `Cannot continue ${path}: line ${line} is not an event, expected only events of format ${EVENT_FORMAT}`,
    { hint: 'Name another file with --output, or restore this one from a copy; nothing in it was changed.' },
  );
}

/** Refuses a directory, a device or a pipe: events are appended, and read again. */
export function assertIsFile({ isFile }: Pick<FileFacts, 'isFile'>, path: string): void {
  if (isFile) return;
  throw new UserError('bad-flag', `Cannot write events to ${path}: it is not a file, expected one, or none yet`, {
    hint: 'Name another file with --output.',
  });
}
