import { dirname, join } from 'node:path';
import { quoteWord, UserError } from '../domain/errors.js';
import { journalKeyOf } from '../journal/writer.js';
import { JOURNAL_FILE, PLAN_FILE } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { readRunFile } from '../plan/format/run-record.js';
import { readSealed, sha256Of } from '../plan/format/sealed-json.js';
import type { Files } from '../storage/files.js';
import { coalesce } from '../storage/group-commit.js';
import { type Identity, identityOf, isSameIdentity } from '../storage/identity.js';
import type { LeftLock, Lock } from '../storage/lock.js';
import { type Fault, MEMORY_KEY, type MemoryDocument, memoryPath } from './memory-file.js';
import type { BegunRun, RegistryState } from './registry-state.js';

/** What shows that the memory is not the one that was written here, or not as it was written last. */
export async function findMemoryFaults(
  files: Files,
  { jobDirectory, document, lock }: { jobDirectory: string; document: MemoryDocument | undefined; lock: LeftLock },
): Promise<Fault[]> {
  const noted = lock.known(MEMORY_KEY);
  if (document === undefined) {
    const message = 'its memory is gone: no memory-….json is in it';
    return noted === undefined ? [] : [{ where: jobDirectory, message }];
  }
  const path = memoryPath(jobDirectory, document.epoch);
  const [own, directory] = [await files.stat(path), await files.stat(jobDirectory)];
  const faults: Fault[] = [];
  if (lock.isReplaced) {
    const message = 'its lock file is not the one that was written last: it was put back, copied, damaged or removed';
    faults.push({ where: jobDirectory, message });
  }
  if (own === undefined || directory === undefined) return faults;
  const { directory: known, revision } = document;
  if (!isSameIdentity(known, identityOf(jobDirectory, directory))) {
    const which = known.path === jobDirectory ? 'that stood here' : `in ${known.path}`;
    const message = `it is a copy of the directory ${which}, to which its memory belongs`;
    faults.push({ where: jobDirectory, message });
  }
  if (!isSameIdentity({ ...document.own, path }, identityOf(path, own))) {
    faults.push({ where: path, message: 'it is a copy of the file that was written here' });
  }
  if (noted !== undefined && revision < noted) {
    const message = `it has change ${revision}, and change ${noted} was written: an older copy was put in its place`;
    faults.push({ where: path, message });
  }
  return faults;
}

/** What shows that a run that has begun is not the one that was written here, or not as it was written last. */
export async function findRunFaults(
  files: Files,
  { run, directories, lock }: { run: BegunRun; directories: RunDirectories; lock: LeftLock },
): Promise<Fault[]> {
  const { plan, begun, ended, directory, journal } = run;
  const where = directories.of(plan);
  const found = await files.stat(where);
  if (found === undefined || directory === undefined) {
    return [{ where, message: `the run that began ${timeOf(begun.at)} is gone` }];
  }
  if (!isSameIdentity(directory, identityOf(where, found))) {
    return [{ where, message: `it is a copy of the directory of the run that began ${timeOf(begun.at)}` }];
  }
  const planText = (await files.readText(join(where, PLAN_FILE))) ?? '';
  // One that is gone or damaged is refused for that.
  if (readSealed(planText) !== undefined && sha256Of(planText) !== begun.planSha256) {
    return [{ where: join(where, PLAN_FILE), message: `it is not the plan that began ${timeOf(begun.at)}` }];
  }
  if (journal === undefined) return [];
  const path = join(where, JOURNAL_FILE);
  const own = await files.stat(path);
  if (own === undefined)
    return [{ where: path, message: `the journal of the run that began ${timeOf(begun.at)} is gone` }];
  const faults: Fault[] = [];
  if (!isSameIdentity(journal, identityOf(path, own))) {
    faults.push({ where: path, message: 'it is a copy of the file that the run wrote' });
  }
  const known = Math.max(ended?.journalBytes ?? 0, lock.known(journalKeyOf(plan)) ?? 0);
  if (own.bytes < known) faults.push({ where: path, message: `it ${sayCut(own.bytes, known)}` });
  return faults;
}

function sayCut(bytes: number, known: number): string {
  return `has ${bytes} bytes, and had ${known}: an older copy was put in its place, or its end is cut off`;
}

/**
 * Refuses, with 'registry-mismatch', to say anything of a run whose journal is gone or cut off: what it sent would count as not sent. Needs
 * no lock, and so knows the length of a run that came to its end alone.
 */
export async function assertJournalKept(files: Files, directory: string): Promise<void> {
  const { journal, ended } = (await readRunFile(files, directory))?.record ?? {};
  if (journal === undefined) return;
  const path = join(directory, JOURNAL_FILE);
  const { bytes } = (await files.stat(path)) ?? {};
  const known = ended?.journalBytes ?? 0;
  if (bytes !== undefined && bytes >= known) return;
  const message = bytes === undefined ? 'is gone' : sayCut(bytes, known);
  throw new UserError('registry-mismatch', `Cannot use ${directory}: its ${JOURNAL_FILE} ${message}`, {
    problems: [{ where: path, message }],
    hint: 'Put the run back from a backup that is as new as the run, or remove its directory: what it took stays known, and new files of the job are sent without it.',
  });
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** The journals whose ends the job's lock notes, key and path: of runs and tests that have not come to their end. */
export function listOpenJournals({ runs }: RegistryState, directories: RunDirectories): [key: string, path: string][] {
  return [...runs.values()].flatMap(({ plan, ended, abandoned, pruned }): [string, string][] => {
    if (ended?.state === 'finished' || abandoned !== undefined || pruned !== undefined) return [];
    return [[journalKeyOf(plan), join(directories.of(plan), JOURNAL_FILE)]];
  });
}

/**
 * Stops a runner under which its journal was removed, or another put in its place. The lock is looked at last: a runner that sleeps
 * between the two finds on waking that another has taken it.
 */
export function watchJournal(files: Files, path: string, lock: Lock): Lock {
  let known: Identity | undefined;
  return {
    ...lock,
    // Requests in flight together share a look, as they share a sync.
    assertHeld: coalesce(async () => {
      const found = await files.stat(path);
      await lock.assertHeld();
      const now = found === undefined ? undefined : identityOf(path, found);
      known ??= now;
      // Before it is made there is none.
      if (known === undefined || (now !== undefined && isSameIdentity(known, now))) return;
      throw new UserError(
        'registry-mismatch',
        `Cannot continue: ${path} was ${now === undefined ? 'removed' : 'replaced'} while the run wrote to it`,
        {
          hint: `Nothing more was sent. Put it back from a backup, then look: \`volley status ${quoteWord(dirname(path))}\``,
        },
      );
    }),
  };
}
