import { isDeepStrictEqual } from 'node:util';
import { type JournalEnd, readJournal, readRunState } from '../../src/journal/reader.js';
import { RunState, type StateSnapshot } from '../../src/journal/replay.js';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import type { CrashDisk } from '../world/crash-disk.js';
import { Violation } from '../world/violation.js';

/** Of every journal: snapshots say what the lines before them say, and who reads from one on knows what a reader of all lines does. */
export async function checkSnapshots({ volume }: CrashDisk): Promise<void> {
  const files = createFiles(volume.promises as unknown as RawFiles);
  const list = (path: string) =>
    volume.statSync(path).isDirectory() ? volume.readdirSync(path).map((name) => `${path}/${name}`) : [];
  for (const run of list('/out').flatMap(list)) {
    const path = `${run}/journal.ndjson`;
    if (!volume.existsSync(path)) continue;
    const state = new RunState();
    const end = await readJournal(files, path, ({ entry }) => {
      if (entry.type === 'snapshot' && !isSame(entry.state as StateSnapshot, state.snapshot())) {
        throw new Violation(
          `a snapshot says ${JSON.stringify(entry.state)}, the lines ${JSON.stringify(state.snapshot())}`,
        );
      }
      state.apply(entry);
    });
    const read = await readRunState(files, path);
    const told = { ...read.state.snapshot(), end: read.end };
    if (!isSame(told, { ...state.snapshot(), end }))
      throw new Violation(
        `from its last snapshot on a journal says ${JSON.stringify(told)}, from its beginning another thing`,
      );
  }
}

/** To ask for a step that had no entry yet is to have it. */
function isSame(one: ReadState, other: ReadState): boolean {
  const [plainOne, plainOther] = [one, other].map((told) => {
    const { steps, ...rest } = JSON.parse(JSON.stringify(told)) as ReadState;
    const begun = steps.filter(({ progress }) => progress.lastEvent > 0);
    return { ...rest, steps: begun.toSorted((a, b) => a.number - b.number) };
  });
  return isDeepStrictEqual(plainOne, plainOther);
}

type ReadState = StateSnapshot & { end?: JournalEnd };
