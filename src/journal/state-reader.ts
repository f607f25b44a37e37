import { closing } from '../domain/closing.js';
import type { Files, ReadFile } from '../storage/files.js';
import { searchLines } from '../storage/split-lines.js';
import { decodeLine, SNAPSHOT_MARK } from './entry-format.js';
import { type JournalEnd, listRunners, NO_JOURNAL, visitLines, walkJournal } from './reader.js';
import { RunState, SNAPSHOT_VERSION, type StateSnapshot } from './replay.js';
import { SNAPSHOT_EVERY_BYTES } from './writer.js';

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
