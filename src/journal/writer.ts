import { InternalError, messageOf } from '../domain/errors.js';
import type { AppendFile, Files } from '../storage/files.js';
import { GroupCommit } from '../storage/group-commit.js';
import type { Lock } from '../storage/lock.js';
import { encodeLine, type JournalEntry, SNAPSHOT_EVERY_BYTES } from './entry-format.js';
import type { JournalEnd } from './reader.js';
import type { RunState } from './replay.js';

/** A snapshot is due once the journal has grown by this part: so short journals have some, and long ones few. */
const PART_OF_JOURNAL = 1 / 4;

interface WriterStart {
  readonly epoch: number;
  /** The number of the last line. */
  readonly seq: number;
  /** Offset of the next line, if no other process appends. */
  readonly offset: number;
  /** The state after all lines; gets every entry once it is durable. Without it, no snapshots are written. */
  readonly state?: RunState | undefined;
  /** Called with where the last line ends that is on disk, before anything relies on it. */
  readonly note?: (bytes: number) => Promise<void>;
}

/** Appends entries with group commit. `append` resolves once its entry is durable; after a failure every entry is refused. */
export function createJournalWriter(file: AppendFile, { epoch, state, note, ...start }: WriterStart) {
  let { seq, offset } = start;
  let durable = seq;
  /** Where the next snapshot is due; undefined until the first lines are written: a runner has to open the journal before anything else. */
  let nextSnapshotAt: number | undefined;
  /** Only now: the lines then name all that was synced before them, which distinguishes damage from a torn tail. */
  const encode = (entry: JournalEntry) => {
    seq += 1;
    return encodeLine({ epoch, seq, durable, entry });
  };
  const write = async (group: readonly JournalEntry[]) => {
    const entries = [...group];
    if (state !== undefined && offset >= (nextSnapshotAt ?? Number.POSITIVE_INFINITY)) {
      nextSnapshotAt = undefined;
      entries.unshift({ type: 'snapshot', offset, state: state.snapshot() });
    }
    const bytes = Buffer.concat(entries.map(encode));
    await file.append(bytes);
    await file.sync();
    durable = seq;
    offset += bytes.length;
    await note?.(offset);
    nextSnapshotAt ??= offset + Math.min(SNAPSHOT_EVERY_BYTES, PART_OF_JOURNAL * offset);
    for (const entry of group) state?.apply(entry);
  };
  const commit = new GroupCommit({ write, describeFailure });
  return {
    append: (entry: JournalEntry): Promise<void> => commit.add(entry),
    /** Waits for pending writes; then nothing more can be appended. */
    close: async (): Promise<void> => {
      await commit.end(new InternalError('write-failed', 'Cannot append to the journal: it is closed'));
      await file.close();
    },
  };
}

export type JournalWriter = ReturnType<typeof createJournalWriter>;

function describeFailure(cause: unknown): InternalError {
  return new InternalError('write-failed', `Cannot write the journal: ${messageOf(cause)}`, cause);
}

/** Ends a torn line. A newline alone would make a line whole that lacks nothing else. */
const END_OF_TEAR = Buffer.from('~\n');

/** The name under which the lock notes how long the journal of a run is, wherever its directory is. */
export function journalKeyOf(plan: string): string {
  return `${plan}/journal.ndjson`;
}

/**
 * Continues a journal that was read to `end`; the caller holds the job's lock, and checked that after it had read. A
 * torn line stays, and gets a newline: cutting it off might remove lines of another runner.
 */
export async function continueJournal(
  files: Files,
  path: string,
  run: { end: JournalEnd; plan: string; lock: Pick<Lock, 'epoch' | 'known' | 'note'>; state?: RunState | undefined },
): Promise<JournalWriter> {
  const { end, plan, lock, state } = run;
  const key = journalKeyOf(plan);
  const known = lock.known(key) ?? 0;
  if (end.goodBytes < known) {
    throw new InternalError(
      'journal-damaged',
      `Cannot continue ${path}: its last good line ends at byte ${end.goodBytes}, and one ended at ${known}. ` +
        'Nothing was sent. Restore the file from a copy that is as new as the run; do not edit it',
    );
  }
  const file = await files.openAppend(path);
  let offset = end.goodBytes + end.tornBytes;
  try {
    if (end.tornBytes > 0) {
      await file.append(END_OF_TEAR);
      offset += END_OF_TEAR.length;
    }
    // What was read may not be on disk yet; from here on lines build upon it.
    await file.sync();
  } catch (error) {
    await file.close();
    throw error;
  }
  // Epochs restart when the lock file is deleted; those of a journal must not, or its lines would be ignored.
  const epoch = Math.max(lock.epoch, end.lastEpoch + 1);
  const note = (bytes: number) => lock.note(key, bytes);
  return createJournalWriter(file, { epoch, seq: end.lastSeq, offset, note, state });
}
