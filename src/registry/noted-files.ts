import { join } from 'node:path';
import { journalKeyOf } from '../journal/writer.js';
import { JOURNAL_FILE } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import type { Files } from '../storage/files.js';
import { type Known, type Noted, noteOf } from '../storage/lock-note.js';
import { REGISTRY_FILE } from './registry-entry.js';
import type { RegistryState } from './registry-state.js';

/** The files whose ends the job's lock notes, key and path: the registry, and the journals of runs and tests that have not come to their end. */
export function listNotedFiles(
  { runs, abandoned, pruned }: RegistryState,
  directories: RunDirectories,
): [key: string, path: string][] {
  const open = [...runs.values()].flatMap(({ begun: { plan }, ended }): [string, string][] => {
    if (ended?.state === 'finished' || abandoned.has(plan) || pruned.has(plan)) return [];
    return [[journalKeyOf(plan), join(directories.of(plan), JOURNAL_FILE)]];
  });
  return [[REGISTRY_FILE, join(directories.jobDirectory, REGISTRY_FILE)], ...open];
}

/** What is known of them, with their times as they are now. */
export async function lookAgain(
  files: Files,
  noted: Iterable<readonly [key: string, path: string]>,
  known: (key: string) => Noted | undefined,
): Promise<Known> {
  const looked: Record<string, Noted> = {};
  for (const [key, path] of noted) {
    const bytes = known(key)?.bytes;
    if (bytes !== undefined) looked[key] = noteOf(bytes, await files.stat(path));
  }
  return looked;
}
