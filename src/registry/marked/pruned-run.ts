import { join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { PRUNED_FILE, type PrunedEntry, type RegistryEntry } from '../registry-entry.js';
import { readMark } from './read-mark.js';

/** What the registry had of the pruned runs of a job, from their directories: for a registry that is made again. */
export async function readPrunedRuns(files: Files, jobDirectory: string): Promise<RegistryEntry[]> {
  const entries: RegistryEntry[] = [];
  for (const name of await files.list(jobDirectory)) {
    if (!name.startsWith('.')) entries.push(...(await readPrunedRun(files, join(jobDirectory, name))));
  }
  return entries;
}

/** None where the directory is not that of a pruned run. Refuses a line that is damaged. */
export function readPrunedRun(files: Files, directory: string): Promise<RegistryEntry[]> {
  return readMark(files, join(directory, PRUNED_FILE));
}

export function refusePruned(directory: string, { plan, at, by }: PrunedEntry): UserError {
  const when = new Date(at).toISOString().slice(0, 10);
  return new UserError('bad-plan', `Cannot use ${directory}: the rows of run ${plan} were pruned on ${when} by ${by}`, {
    hint: 'Its figures are in its summary.json, and in `volley runs`. What it sent stays known: nothing is sent again.',
  });
}
