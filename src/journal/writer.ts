import { InternalError } from '../errors.js';
import type { AppendFile, Files } from '../files.js';
import { GroupCommit } from '../group-commit.js';
import { encodeLine, type JournalEntry } from './format.js';
import type { JournalEnd } from './reader.js';

interface Numbered {
  readonly seq: number;
  readonly entry: JournalEntry;
}

/** Appends entries with group commit. `append` resolves once its entry is durable; after a failure every entry is refused. */
export class JournalWriter {
  readonly #file: AppendFile;
  readonly #epoch: number;
  readonly #commit: GroupCommit<Numbered>;
  #seq: number;
  #durable: number;

  constructor(file: AppendFile, start: { epoch: number; seq: number }) {
    this.#file = file;
    this.#epoch = start.epoch;
    this.#seq = start.seq;
    this.#durable = start.seq;
    this.#commit = new GroupCommit({ write: (group) => this.#write(group), describeFailure });
  }

  append(entry: JournalEntry): Promise<void> {
    if (this.#commit.failure !== undefined) return Promise.reject(this.#commit.failure);
    this.#seq += 1;
    return this.#commit.add({ seq: this.#seq, entry });
  }

  /** Waits for what is under way; then no more can be appended. */
  async close(): Promise<void> {
    await this.#commit.end(new InternalError('write-failed', 'Cannot append to the journal: it is closed'));
    await this.#file.close();
  }

  async #write(group: readonly Numbered[]): Promise<void> {
    await this.#file.append(this.#encode(group));
    await this.#file.sync();
    this.#durable = group.at(-1)?.seq ?? this.#durable;
  }

  /** Only now: the lines then name all that was synced before them, so that damage to it is told from a torn tail. */
  #encode(group: readonly Numbered[]): Buffer {
    const epoch = this.#epoch;
    const durable = this.#durable;
    return Buffer.concat(group.map(({ seq, entry }) => encodeLine({ epoch, seq, durable, entry })));
  }
}

function describeFailure(cause: unknown): InternalError {
  const said = cause instanceof Error ? cause.message : String(cause);
  return new InternalError('write-failed', `Cannot write the journal: ${said}`, cause);
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
