import { closing } from '../domain/closing.js';
import { InternalError } from '../domain/errors.js';
import type { RowOutcomes } from '../domain/row.js';
import type { Files, ReadFile } from '../storage/files.js';
import { type Line, ReadWindow, searchLines, splitPieces } from '../storage/split-lines.js';
import {
  decodeLine,
  findLine,
  type JournalEntry,
  type JournalLine,
  OPEN_MARK,
  SNAPSHOT_EVERY_BYTES,
  SNAPSHOT_MARK,
} from './entry-format.js';
import { RunState, SNAPSHOT_VERSION, type StateSnapshot } from './replay.js';

/** An entry with the place of its line, so that it can be read again alone. */
export interface PlacedLine extends JournalLine {
  readonly offset: number;
}

/** Where the good part of a journal ends, or a read of it begins: behind a good line. */
export interface JournalEnd {
  /** Bytes up to the end of the last good line; what follows was never durable and is ignored. */
  readonly goodBytes: number;
  readonly tornBytes: number;
  readonly lastSeq: number;
  readonly lastEpoch: number;
}

export const NO_JOURNAL: JournalEnd = { goodBytes: 0, tornBytes: 0, lastSeq: 0, lastEpoch: 0 };

/**
 * Calls `visit` for every good line in order, and returns where the good part ends. A tail that no later line builds
 * upon (see `durable` in entry-format.ts) is torn: ignored, but counted. The next runner appends behind it. A bad line
 * before that is damage: InternalError 'journal-damaged' with its byte offset.
 */
export function readJournal(files: Files, path: string, visit: (line: PlacedLine) => void): Promise<JournalEnd> {
  return visitLines(readInPieces(files, path), visit);
}

/** Reads the lines that `readJournal` visits, in pieces, for callers that wait between them. */
export async function* readInPieces(files: Files, path: string): AsyncGenerator<PlacedLine[], JournalEnd> {
  if ((await files.stat(path)) === undefined) return NO_JOURNAL;
  await using file = closing(await files.openRead(path));
  return yield* walkJournal(file, path, NO_JOURNAL, await listRunners(file, NO_JOURNAL));
}

async function visitLines(
  pieces: AsyncGenerator<PlacedLine[], JournalEnd>,
  visit: (line: PlacedLine) => void,
): Promise<JournalEnd> {
  for (;;) {
    const { value, done } = await pieces.next();
    if (done === true) return value;
    for (const line of value) visit(line);
  }
}

/** The good lines behind a place that is known to be good, of which `runners` opened the journal later. */
async function* walkJournal(
  file: ReadFile,
  path: string,
  start: JournalEnd,
  runners: readonly Runner[],
): AsyncGenerator<PlacedLine[], JournalEnd> {
  const end = { ...start };
  /** Offset of the first bad line; from there on nothing counts, but lines are still checked for what they build upon. */
  let badAt: number | undefined;
  /** A runner that had lost its lock appended it after the next one had read the journal: the successor does not know it. */
  const isUnread = ({ epoch, seq }: JournalLine) =>
    runners.some((later) => later.epoch > epoch && later.firstSeq <= seq);
  /** A new runner that read as far as this reader, and took the rest for torn. */
  const continuesAfterTear = ({ entry, epoch, seq, durable }: JournalLine) =>
    entry.type === 'open' && epoch > end.lastEpoch && durable === end.lastSeq && seq === durable + 1;
  /** Returns the line where it counts. */
  const take = ({ bytes, offset, isWhole }: Line): PlacedLine | undefined => {
    const { line, skipped = 0 } = (isWhole ? findLine(bytes) : undefined) ?? {};
    if (line !== undefined && (line.epoch < end.lastEpoch || isUnread(line))) {
      if (badAt === undefined) end.goodBytes = offset + bytes.length + 1;
      return undefined;
    }
    if (line !== undefined && continuesAfterTear(line)) badAt = undefined;
    if (badAt === undefined && line?.seq === end.lastSeq + 1) {
      end.lastSeq = line.seq;
      end.lastEpoch = line.epoch;
      end.goodBytes = offset + bytes.length + 1;
      return { ...line, offset: offset + skipped };
    }
    badAt ??= offset;
    if (line !== undefined && line.durable > end.lastSeq) {
      throw new InternalError(
        'journal-damaged',
        `Cannot read ${path}: the line at byte ${badAt} is damaged, and later lines depend on it. ` +
          'Nothing was sent. Restore the file from a copy; do not edit it',
      );
    }
    return undefined;
  };
  for await (const lines of splitPieces(file, start.goodBytes)) yield lines.flatMap((line) => take(line) ?? []);
  return { ...end, tornBytes: file.bytes - end.goodBytes };
}

/** Who opened the journal under a lock epoch, and the `seq` of that line: one more than the last that it had read. */
interface Runner {
  readonly epoch: number;
  readonly firstSeq: number;
}

/** Lists the runners that opened the journal behind a place, in their order; each is the first of its epoch. */
async function listRunners(file: ReadFile, start: JournalEnd): Promise<Runner[]> {
  const runners: Runner[] = [];
  let last = start.lastEpoch;
  for await (const { bytes } of searchLines(file, OPEN_MARK, start.goodBytes)) {
    const line = findLine(bytes)?.line;
    if (line?.entry.type !== 'open' || line.epoch <= last) continue;
    last = line.epoch;
    runners.push({ epoch: line.epoch, firstSeq: line.seq });
  }
  return runners;
}

const NEWLINE = 10;
/** Most lines are shorter; of a longer one twice as much is read each time. */
const LINE_BYTES = 1 << 16;

/** Reads journal entries again by the places of their lines; lines near each other share one read. The caller closes it. */
export function createJournalWindow(files: Files, path: string, windowBytes?: number) {
  let opened: { readonly file: ReadFile; readonly window: ReadWindow } | undefined;
  /** Damage since the journal was read is InternalError 'journal-damaged'. */
  const readEntry = async (offset: number): Promise<JournalEntry> => {
    if (opened === undefined) {
      const file = await files.openRead(path);
      opened = { file, window: new ReadWindow(file, windowBytes) };
    }
    for (let size = LINE_BYTES; ; size *= 2) {
      const bytes = await opened.window.read(offset, size);
      const end = bytes.indexOf(NEWLINE);
      if (end === -1 && bytes.length === size) continue;
      const line = decodeLine(bytes.subarray(0, Math.max(0, end)));
      if (line !== undefined) return line.entry;
      throw new InternalError('journal-damaged', `Cannot read the journal at byte ${offset}`);
    }
  };
  return {
    readEntry,
    /** Reads the outcomes of a request, or a part of one, that has an outcome for each of its rows. */
    async readOutcomes(offset: number): Promise<RowOutcomes> {
      const entry = await readEntry(offset);
      if (entry.type === 'outcome' && entry.result.kind === 'settled') return entry.result.outcomes;
      throw new InternalError(
        'journal-damaged',
        `Cannot read the journal at byte ${offset}: it holds another entry than before`,
      );
    },
    async close(): Promise<void> {
      await opened?.file.close();
    },
  };
}

export type JournalWindow = ReturnType<typeof createJournalWindow>;

/** Room for the lines behind a snapshot, and for those of processes that died before they wrote one. */
const SEARCHED_BYTES = 4 * SNAPSHOT_EVERY_BYTES;

/**
 * The state of a run, and where its journal ends, equal to replaying every entry: read from the last trusted snapshot
 * on, so that a long journal takes no longer than a short one. Damage before that is not seen.
 */
export async function readRunState(files: Files, path: string): Promise<{ state: RunState; end: JournalEnd }> {
  if ((await files.stat(path)) === undefined) return { state: new RunState(), end: NO_JOURNAL };
  await using file = closing(await files.openRead(path));
  const snapshots = await listSnapshots(file);
  for (;;) {
    const { start, snapshot } = snapshots.pop() ?? { start: NO_JOURNAL, snapshot: undefined };
    const runners = await listRunners(file, start);
    // Its writer had lost the lock, and its successor did not read it.
    if (runners.some(({ firstSeq }) => firstSeq <= start.lastSeq)) continue;
    const state = snapshot === undefined ? new RunState() : RunState.restore(snapshot);
    const end = await visitLines(walkJournal(file, path, start, runners), ({ entry }) => state.apply(entry));
    return { state, end };
  }
}

/**
 * The snapshots at the end of a journal, each with the place behind its line. Trusted are those whose line stands at the offset that its writer expected: before it is only what that runner read
 * and wrote itself, so its state covers exactly those entries.
 */
async function listSnapshots(file: ReadFile): Promise<{ start: JournalEnd; snapshot: StateSnapshot }[]> {
  const found: { start: JournalEnd; snapshot: StateSnapshot }[] = [];
  const from = Math.max(0, file.bytes - SEARCHED_BYTES);
  for await (const { bytes, offset } of searchLines(file, SNAPSHOT_MARK, from)) {
    const line = decodeLine(bytes);
    if (line?.entry.type !== 'snapshot' || line.entry.offset !== offset) continue;
    const snapshot = line.entry.state as StateSnapshot;
    if (snapshot.version !== SNAPSHOT_VERSION) continue;
    const goodBytes = offset + bytes.length + 1;
    found.push({ start: { goodBytes, tornBytes: 0, lastSeq: line.seq, lastEpoch: line.epoch }, snapshot });
  }
  return found;
}
