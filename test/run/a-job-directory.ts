import { createFsFromVolume, Volume } from 'memfs';
import { expect } from 'vitest';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import { acquireLock } from '../../src/storage/lock.js';
import type { LockPorts, Owner } from '../../src/storage/lock-file.js';
import { FakeClock } from './fake-clock.js';

export const DIRECTORY = '/out/job';
export const LOST = { name: 'UserError', code: 'lock-held', message: expect.stringContaining('lost its lock') };

/** A directory, and the processes that want the job in it. One clock for all, unless a process has its own. */
export function aJobDirectory() {
  const volume = Volume.fromJSON({ [`${DIRECTORY}/.keep`]: '' });
  const files = createFiles(createFsFromVolume(volume).promises as unknown as RawFiles);
  const clock = new FakeClock();
  const dead = new Set<number>();
  const deps = (more: Partial<Omit<LockPorts, 'owner'>> & { owner?: Partial<Owner> } = {}): LockPorts => {
    const { owner, ...others } = more;
    const pid = owner?.pid ?? 1;
    return {
      files,
      clock,
      isProcessAlive: (asked) => !dead.has(asked),
      ...others,
      owner: { host: 'a', pid, instance: `i${pid}`, ...owner },
    };
  };
  const readText = (epoch: number) => String(volume.readFileSync(pathOf(epoch), 'utf8'));
  return {
    files,
    clock,
    deps,
    dies: (pid: number) => dead.add(pid),
    take: (more?: Parameters<typeof deps>[0]) => acquireLock(deps(more), DIRECTORY),
    lockFiles: () =>
      volume
        .readdirSync(DIRECTORY)
        .map(String)
        .filter((name) => name.startsWith('lock-')),
    read: (epoch: number) => JSON.parse(readText(epoch).split('\n')[0] ?? ''),
    readText,
    /** As another program, or a crash, may leave it. */
    put: (epoch: number, text: string, modifiedMs = clock.now()) => {
      volume.writeFileSync(pathOf(epoch), text);
      volume.utimesSync(pathOf(epoch), modifiedMs / 1000, modifiedMs / 1000);
    },
  };
}

export const pathOf = (epoch: number) => `${DIRECTORY}/lock-${String(epoch).padStart(6, '0')}.json`;
