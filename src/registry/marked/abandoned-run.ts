import { join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { ABANDONED_FILE, type AbandonedEntry } from '../registry-entry.js';
import type { RegistryState } from '../registry-state.js';
import { readMark } from './read-mark.js';

/** What the registry had of the abandoned plans of a job, from their directories: for a registry that is made again. */
export async function readAbandonedRuns(files: Files, jobDirectory: string): Promise<AbandonedEntry[]> {
  const entries: AbandonedEntry[] = [];
  for (const name of await files.list(jobDirectory)) {
    if (name.startsWith('.')) continue;
    const mark = await readMark(files, join(jobDirectory, name, ABANDONED_FILE));
    entries.push(...mark.filter((entry) => entry.type === 'abandoned'));
  }
  return entries;
}

/** Refuses to send a plan that a person let go. */
export function assertNotAbandoned({ abandoned }: RegistryState, run: string): void {
  const entry = abandoned.get(run);
  if (entry === undefined) return;
  throw new UserError(
    'bad-plan',
    `Cannot apply run ${run}: it was abandoned ${describeAbandoned(entry)}, and never sends again`,
    {
      hint: '`volley status` and its directory show what it sent, and what sends the rest.',
    },
  );
}

/** Who let it go, and when. */
export function describeAbandoned({ at, by }: AbandonedEntry): string {
  return `on ${new Date(at).toISOString().slice(0, 10)} by ${by}`;
}
