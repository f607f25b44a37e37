import { InternalError } from '../domain/errors.js';
import type { Files, ReadFile } from '../storage/files.js';
import { ReadWindow } from '../storage/read-window.js';
import { searchLines, splitPieces } from '../storage/split-lines.js';
import { decodeLine, findLine, type JournalEntry, type JournalLine, OPEN_MARK } from './entry-format.js';

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

/**
 * Calls `visit` for every good line in order, and returns where the good part ends. A tail that no later line builds
 * upon (see `durable` in entry-format.ts) is torn: ignored, but counted. The next runner appends behind it. A bad line
 * before that is damage: InternalError 'journal-damaged' with its byte offset.
 */
export function readJournal(files: Files, path: string, visit: (line: PlacedLine) => void): Promise<JournalEnd> {
  return readJournalOn(files, path, { from: NO_JOURNAL, visit });
}

/**
 * The same from where a read before ended, up to `toBytes`: read in pieces, a journal is what it is at once, unless another
 * runner opened it between them.
 */
export async function readJournalOn(
  files: Files,
  path: string,
  { from, toBytes, visit }: { from: JournalEnd; toBytes?: number | undefined; visit: (line: PlacedLine) => void },
): Promise<JournalEnd> {
  if ((await files.stat(path)) === undefined) return NO_JOURNAL;
  const opened = await files.openRead(path);
  const file = toBytes === undefined ? opened : endAt(opened, toBytes);
  try {
    return await walkJournal(file, path, { start: from, runners: await listRunners(file, from), visit });
  } finally {
    await opened.close();
  }
}

function endAt(file: ReadFile, bytes: number): ReadFile {
  return { ...file, bytes, read: (offset, length) => file.read(offset, Math.min(length, bytes - offset)) };
}

export const NO_JOURNAL: JournalEnd = { goodBytes: 0, tornBytes: 0, lastSeq: 0, lastEpoch: 0 };

interface WalkFrom {
  readonly start: JournalEnd;
  /** Those that opened the journal behind it. */
  readonly runners: readonly Runner[];
  readonly visit: (line: PlacedLine) => void;
}

/** `readJournal` from a place that is known to be good. */
export async function walkJournal(file: ReadFile, path: string, from: WalkFrom): Promise<JournalEnd> {
  const walk = new Walk(path, from);
  for await (const lines of splitPieces(file, from.start.goodBytes)) {
    for (const { bytes, offset, isWhole } of lines) walk.take(bytes, offset, isWhole);
  }
  return walk.end(file.bytes);
}

/** Who opened the journal under a lock epoch, and the `seq` of that line: one more than the last that it had read. */
interface Runner {
  readonly epoch: number;
  readonly firstSeq: number;
}

/** Those that opened the journal behind a place, in their order; each is the first of its epoch. */
export async function listRunners(file: ReadFile, start: JournalEnd): Promise<Runner[]> {
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

class Walk {
  readonly #path: string;
  readonly #runners: readonly Runner[];
  readonly #visit: (line: PlacedLine) => void;
  #goodBytes: number;
  #lastSeq: number;
  #lastEpoch: number;
  /** Offset of the first bad line; from there on nothing counts, but lines are still checked for what they build upon. */
  #badAt: number | undefined;

  constructor(path: string, { start, runners, visit }: WalkFrom) {
    this.#path = path;
    this.#runners = runners;
    this.#visit = visit;
    this.#goodBytes = start.goodBytes;
    this.#lastSeq = start.lastSeq;
    this.#lastEpoch = start.lastEpoch;
  }

  take(bytes: Buffer, offset: number, isWhole: boolean): void {
    const { line, skipped = 0 } = (isWhole ? findLine(bytes) : undefined) ?? {};
    if (line !== undefined && (line.epoch < this.#lastEpoch || this.#isUnread(line))) {
      if (this.#badAt === undefined) this.#goodBytes = offset + bytes.length + 1;
      return;
    }
    if (line !== undefined && this.#continuesAfterTear(line)) this.#badAt = undefined;
    if (this.#badAt === undefined && line?.seq === this.#lastSeq + 1) {
      const { epoch, seq, durable, entry } = line;
      this.#visit({ epoch, seq, durable, entry, offset: offset + skipped });
      this.#lastSeq = line.seq;
      this.#lastEpoch = line.epoch;
      this.#goodBytes = offset + bytes.length + 1;
      return;
    }
    this.#badAt ??= offset;
    if (line !== undefined && line.durable > this.#lastSeq) {
      throw new InternalError(
        'journal-damaged',
        `Cannot read ${this.#path}: the line at byte ${this.#badAt} is damaged, and later lines depend on it. ` +
          'Nothing was sent. Restore the file from a copy; do not edit it',
      );
    }
  }

  /** A new runner that read as far as this reader, and took the rest for torn. */
  #continuesAfterTear({ entry, epoch, seq, durable }: JournalLine): boolean {
    return entry.type === 'open' && epoch > this.#lastEpoch && durable === this.#lastSeq && seq === durable + 1;
  }

  /**
   * Whether a runner that had lost its lock appended it after the next one had read the journal: the successor does not
   * know it.
   */
  #isUnread({ epoch, seq }: JournalLine): boolean {
    return this.#runners.some((later) => later.epoch > epoch && later.firstSeq <= seq);
  }

  end(fileBytes: number): JournalEnd {
    return {
      goodBytes: this.#goodBytes,
      tornBytes: fileBytes - this.#goodBytes,
      lastSeq: this.#lastSeq,
      lastEpoch: this.#lastEpoch,
    };
  }
}

const NEWLINE = 10;
/** Most lines are shorter; of a longer one twice as much is read each time. */
const LINE_BYTES = 1 << 16;

/** Reads journal entries again by the places of their lines; lines near each other share one read. The caller closes it. */
export class JournalWindow {
  readonly #files: Files;
  readonly #path: string;
  readonly #windowBytes: number | undefined;
  #opened: { readonly file: ReadFile; readonly window: ReadWindow } | undefined;

  constructor(files: Files, path: string, windowBytes?: number) {
    this.#files = files;
    this.#path = path;
    this.#windowBytes = windowBytes;
  }

  /** Damage since the journal was read is InternalError 'journal-damaged'. */
  async readEntry(offset: number): Promise<JournalEntry> {
    const { window } = this.#opened ?? (await this.#open());
    for (let size = LINE_BYTES; ; size *= 2) {
      const bytes = await window.read(offset, size);
      const end = bytes.indexOf(NEWLINE);
      if (end === -1 && bytes.length === size) continue;
      const line = decodeLine(bytes.subarray(0, Math.max(0, end)));
      if (line !== undefined) return line.entry;
      throw new InternalError('journal-damaged', `Cannot read the journal at byte ${offset}`);
    }
  }

  async close(): Promise<void> {
    await this.#opened?.file.close();
  }

  async #open() {
    const file = await this.#files.openRead(this.#path);
    this.#opened = { file, window: new ReadWindow(file, this.#windowBytes) };
    return this.#opened;
  }
}
