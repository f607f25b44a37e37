import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { PRUNED_FILE } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import type { Files } from '../storage/files.js';
import {
  ABANDONED_FILE,
  type AbandonedEntry,
  decodeRegistryLine,
  encodeRegistryLine,
  type PrunedEntry,
  type RegistryEntry,
} from './registry-entry.js';
import type { RegistryState } from './registry-state.js';

/** What the registry had of the pruned runs and the abandoned plans of a job, from their directories: for a registry that is made again. */
export async function readMarks(files: Files, directories: RunDirectories): Promise<RegistryEntry[]> {
  const entries: RegistryEntry[] = [];
  for await (const { path } of directories.list(files)) {
    const abandoned = await readMark(files, join(path, ABANDONED_FILE));
    entries.push(...(await readPrunedRun(files, path)), ...abandoned.filter(({ type }) => type === 'abandoned'));
  }
  return entries;
}

/** None where the directory is not that of a pruned run. Refuses a line that is damaged. */
export function readPrunedRun(files: Files, directory: string): Promise<RegistryEntry[]> {
  return readMark(files, join(directory, PRUNED_FILE));
}

async function readMark(files: Files, path: string): Promise<RegistryEntry[]> {
  if ((await files.stat(path)) === undefined) return [];
  const lines = ((await files.readText(path)) ?? '').replace(/\n$/, '').split('\n');
  return lines.map((line, at) => {
    const entry = decodeRegistryLine(Buffer.from(line));
    if (entry !== undefined) return entry;
    throw new UserError('registry-mismatch', `Cannot use ${path}: line ${at + 1} is damaged`, {
      hint: 'Nothing was sent. Put it back from a backup: it says which files the run took.',
    });
  });
}

/** Keeps in the directory of a run what the registry has of it, for a registry that is lost. Durable once it returns. */
export async function keepMark(files: Files, path: string, entries: readonly RegistryEntry[]): Promise<void> {
  const lines = Buffer.concat(entries.map((entry) => encodeRegistryLine(entry))).toString('utf8');
  if ((await files.readText(path)) !== lines) await files.writeWhole(path, lines);
}

export function refusePruned(directory: string, { plan, at, by }: PrunedEntry): UserError {
  const when = new Date(at).toISOString().slice(0, 10);
  return new UserError('bad-plan', `Cannot use ${directory}: the rows of run ${plan} were pruned on ${when} by ${by}`, {
    hint: 'Its figures are in its summary.json, and in `volley runs`. What it sent stays known: nothing is sent again.',
  });
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
