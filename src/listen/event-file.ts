import { InternalError, UserError } from '../domain/errors.js';
import type { Log } from '../ports/log.js';
import { KeySet, PathAppender } from '../storage/appended-file.js';
import type { FileFacts, Files } from '../storage/files.js';
import { GroupCommit } from '../storage/group-commit.js';
import { splitLines } from '../storage/split-lines.js';
import { decodeEventLine, EVENT_FORMAT, LINE_START, type StoredEvent } from './event-line.js';

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
  /** Ids of the durable ones. */
  let known = new KeySet();
  const underWay = new Map<string, Promise<void>>();
  const openFile = async () => {
    const read = await openToAppend(path, { files, log });
    known = read.known;
    return read.file;
  };
  const file = new PathAppender(path, { files, openFile });
  await file.open();
  const write = async (events: readonly { id: string; line: Buffer }[]) => {
    await assertHeld();
    await file.append(() => Buffer.concat(events.flatMap(({ id, line }) => (known.has(id) ? [] : [line]))));
  };
  const commit = new GroupCommit({ write, describeFailure, onFailure });
  return {
    /**
     * However often an event comes, it is written once. Resolves when it is durable, now or since earlier; rejects when
     * the file cannot be written.
     */
    add: async (id: string, line: Buffer): Promise<'written' | 'duplicate'> => {
      const writing = underWay.get(id);
      if (writing !== undefined || known.has(id)) {
        await writing;
        return 'duplicate';
      }
      const appending = commit.add({ id, line });
      underWay.set(id, appending);
      try {
        await appending;
        known.add(id);
      } finally {
        underWay.delete(id);
      }
      return 'written';
    },
    /** Waits for pending writes, then closes the file; throws what ended the writing, if anything did. */
    close: async () => {
      const closed = new InternalError('write-failed', 'Cannot write an event: the file is closed');
      await commit.end(closed);
      await file.close();
      if (commit.failure !== closed) throw commit.failure;
    },
  };
}

/** A file of events as it is found, and the ids in it. */
async function openToAppend(path: string, { files, log }: { files: Files; log: Log }) {
  const known = new KeySet();
  const { events, goodBytes, tornBytes } = await readEventFile(files, path, ({ id }) => known.add(id));
  const file = await files.openAppend(path);
  try {
    if (tornBytes > 0) {
      await file.truncate(goodBytes);
      log.warn(`cut off ${tornBytes} bytes of an incomplete event, which was never acknowledged`, { tornBytes });
    }
    // A killed listener may have written events without a sync; as known events they will be acknowledged.
    if (events > 0 || tornBytes > 0) await file.sync();
  } catch (error) {
    await file.close();
    throw error;
  }
  if (events > 0) log.info(`resumes a file of ${events} ${events === 1 ? 'event' : 'events'}`, { events });
  return { known, file };
}

function describeFailure(cause: unknown): Error {
  if (cause instanceof UserError) return cause;
  const said = cause instanceof Error ? cause.message : String(cause);
  const message = `Cannot write events: ${said}. What was not written was not acknowledged`;
  return new InternalError('write-failed', message, cause);
}

/**
 * Calls `visit` for every event of a file in order; a missing file has none. Refuses, with the line, a file that holds
 * anything but events: nothing in it is ever overwritten or cut off, except a torn last line, which was never
 * acknowledged. `goodBytes` reach to the end of the last whole line.
 */
export async function readEventFile(
  files: Files,
  path: string,
  visit: (event: StoredEvent) => void,
): Promise<{ events: number; goodBytes: number; tornBytes: number }> {
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
