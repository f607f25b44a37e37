import { InternalError } from '../errors.js';
import type { AppendFile, Files } from '../files.js';
import { encodeLine, type JournalEntry } from './format.js';
import type { JournalEnd } from './reader.js';

/**
 * Appends entries with group commit: while one write and sync is under way, entries gather; the next
 * sync takes them all. `append` resolves once its entry is durable.
 * The first failure is final: the disk's state is then unknown, so nothing is tried again, and every
 * later `append` is refused (a failed fsync must not be repeated as if it could succeed).
 */
export class JournalWriter {
  readonly #file: AppendFile;
  readonly #epoch: number;
  #seq: number;
  #durable: number;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: InternalError | undefined;

  constructor(file: AppendFile, start: { epoch: number; seq: number }) {
    this.#file = file;
    this.#epoch = start.epoch;
    this.#seq = start.seq;
    this.#durable = start.seq;
  }

  append(entry: JournalEntry): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#seq += 1;
    const seq = this.#seq;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ seq, entry, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Waits for what is under way; then no more can be appended. */
  async close(): Promise<void> {
    await this.#flushing;
    this.#failure ??= new InternalError('write-failed', 'Cannot append to the journal: it is closed');
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#file.append(this.#encode(group));
        await this.#file.sync();
      } catch (cause) {
        this.#fail(group, cause);
        break;
      }
      this.#durable = group.at(-1)?.seq ?? this.#durable;
      for (const waiting of group) waiting.resolve();
    }
    this.#flushing = undefined;
  }

  /** Only now: the lines then name all that was synced before them, so that damage to it is told from a torn tail. */
  #encode(group: readonly Waiting[]): Buffer {
    const epoch = this.#epoch;
    const durable = this.#durable;
    return Buffer.concat(group.map(({ seq, entry }) => encodeLine({ epoch, seq, durable, entry })));
  }

  #fail(group: readonly Waiting[], cause: unknown): void {
    const said = cause instanceof Error ? cause.message : String(cause);
    this.#failure = new InternalError('write-failed', `Cannot write the journal: ${said}`, cause);
    for (const waiting of [...group, ...this.#waiting]) waiting.reject(this.#failure);
    this.#waiting = [];
  }
}

/** Not a newline alone: a line of which only that is missing would become whole. */
const END_OF_TEAR = Buffer.from('~\n');

/**
 * Goes on with a journal that was read to `end`; the caller holds the job's lock, and made sure of that after it had read.
 * What was never whole stays where it is, and gets an end: cut off, it might take the lines of another runner with it.
 */
export async function continueJournal(
  files: Files,
  path: string,
  { end, lockEpoch }: { end: JournalEnd; lockEpoch: number },
): Promise<JournalWriter> {
  const file = await files.openAppend(path);
  try {
    if (end.tornBytes > 0) await file.append(END_OF_TEAR);
    // What was read may still be in the cache of a process that died; from here on lines build upon it.
    await file.sync();
  } catch (error) {
    await file.close();
    throw error;
  }
  // The lock's epochs begin anew when its file is deleted; those of a journal must not, or its lines are passed over.
  return new JournalWriter(file, { epoch: Math.max(lockEpoch, end.lastEpoch + 1), seq: end.lastSeq });
}

interface Waiting {
  readonly seq: number;
  readonly entry: JournalEntry;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}
