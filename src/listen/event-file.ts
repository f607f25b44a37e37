import { InternalError, UserError } from '../domain/errors.js';
import type { AppendFile, FileFacts, Files } from '../storage/files.js';
import { GroupCommit } from '../storage/group-commit.js';
import { splitLines } from '../storage/split-lines.js';
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
const EVENT_FORMAT = 1;

/** Every line begins so; a file that begins otherwise is not an event file. */
const LINE_START = `{"format":${EVENT_FORMAT},"receivedAt":"`;

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

export interface EventFileEnd {
  readonly events: number;
  /** Bytes up to the end of the last whole line. */
  readonly goodBytes: number;
  /** Bytes of a torn last line, which was never acknowledged: they may be cut off. */
  readonly tornBytes: number;
}

/**
 * Calls `visit` for every event of a file in order; a missing file has none. Refuses, with the line, a file that holds
 * anything but events: nothing in it is ever overwritten or cut off, except a torn last line.
 */
export async function readEventFile(
  files: Files,
  path: string,
  visit: (event: StoredEvent) => void,
): Promise<EventFileEnd> {
  const stat = await files.stat(path);
  if (stat === undefined) return { events: 0, goodBytes: 0, tornBytes: 0 };
  assertIsFile(stat, path);
  const file = await files.openRead(path);
  try {
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
  } finally {
    await file.close();
  }
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

/** Appends lines to the file; see `createEventWriter`. */
export interface EventWriter {
  /** Resolves once the line is durable. */
  append(line: Uint8Array): Promise<void>;
  /** Waits for pending writes, then closes the file; throws what ended the writing, if anything did. */
  close(): Promise<void>;
}

/**
 * Appends lines with group commit; after a failure, which `onFailure` gets, every line is refused. `assertHeld` is asked
 * before each write, and throws when another process may have taken the file.
 */
export function createEventWriter(
  file: AppendFile,
  assertHeld: () => Promise<void>,
  onFailure: (error: Error) => void,
): EventWriter {
  const write = async (lines: readonly Uint8Array[]) => {
    await assertHeld();
    await file.append(Buffer.concat(lines));
    await file.sync();
  };
  const commit = new GroupCommit({ write, describeFailure, onFailure });
  return {
    append: (line) => commit.add(line),
    close: async () => {
      const closed = new InternalError('write-failed', 'Cannot write an event: the file is closed');
      await commit.end(closed);
      await file.close();
      if (commit.failure !== closed) throw commit.failure;
    },
  };
}

function describeFailure(cause: unknown): Error {
  if (cause instanceof UserError) return cause;
  const said = cause instanceof Error ? cause.message : String(cause);
  return new InternalError(
    'write-failed',
    `Cannot write events: ${said}. What was not written was not acknowledged`,
    cause,
  );
}
