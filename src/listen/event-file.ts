import { UserError } from '../domain/errors.js';
import type { FileFacts, Files, ReadFile } from '../storage/files.js';
import { decodeEventLine, EVENT_FORMAT, LINE_START, type StoredEvent } from './event-line.js';

export interface EventFileEnd {
  readonly events: number;
  /** Bytes up to the end of the last whole line. */
  readonly goodBytes: number;
  /** Bytes of a torn last line, which was never acknowledged: they may be cut off. */
  readonly tornBytes: number;
}

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/**
 * Calls `visit` for every event of a file in order; a missing file has none. Refuses, with the line, a file that holds
 * anything but events: nothing in it is ever overwritten or cut off, except a torn last line.
 */
export async function readEventFile(
  files: Pick<Files, 'stat' | 'openRead'>,
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
    let tail: Buffer = Buffer.alloc(0);
    for await (const { bytes, isWhole } of splitLines(file)) {
      if (!isWhole) {
        tail = bytes;
        continue;
      }
      const event = decodeEventLine(bytes.toString('utf8'));
      if (event === undefined) throw refuseLine(path, events + 1);
      visit(event);
      events += 1;
      goodBytes += bytes.length + 1;
    }
    if (!isTornLine(tail)) throw refuseLine(path, events + 1);
    return { events, goodBytes, tornBytes: tail.length };
  } finally {
    await file.close();
  }
}

/** The beginning of an event line, or the zeros that a power cut leaves. */
function isTornLine(tail: Buffer): boolean {
  const start = Buffer.from(LINE_START);
  const length = Math.min(tail.length, start.length);
  return tail.subarray(0, length).equals(start.subarray(0, length)) || tail.every((byte) => byte === 0);
}

function refuseLine(path: string, line: number): UserError {
  return new UserError(
    'bad-input',
    `Cannot continue ${path}: line ${line} is not an event, expected only events of format ${EVENT_FORMAT}`,
    { hint: 'Name another file with --output, or restore this one from a copy; nothing in it was changed.' },
  );
}

/** Lines without their line break; the last one is not whole when none ends it. */
async function* splitLines(file: ReadFile): AsyncGenerator<{ bytes: Buffer; isWhole: boolean }> {
  let rest: Buffer[] = [];
  for (let offset = 0; offset < file.bytes; ) {
    const chunk = await file.read(offset, Math.min(CHUNK_BYTES, file.bytes - offset));
    if (chunk.length === 0) break;
    offset += chunk.length;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const end = chunk.subarray(from, at);
      yield { bytes: rest.length === 0 ? end : Buffer.concat([...rest, end]), isWhole: true };
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), isWhole: false };
}

/** Refuses a directory, a device or a pipe: events are appended, and read again. */
export function assertIsFile({ isFile }: Pick<FileFacts, 'isFile'>, path: string): void {
  if (isFile) return;
  throw new UserError('bad-flag', `Cannot write events to ${path}: it is not a file, expected one, or none yet`, {
    hint: 'Name another file with --output.',
  });
}
