import { InternalError } from '../errors.js';
import type { AppendFile } from '../files.js';
import { encodeLine, type JournalEntry } from './format.js';

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

interface Waiting {
  readonly seq: number;
  readonly entry: JournalEntry;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}
