import { join } from 'node:path';
import { findLine } from '../journal/entry-format.js';
import { journalKeyOf } from '../journal/writer.js';
import { JOURNAL_FILE, PLAN_FILE } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { readSealed } from '../plan/format/sealed-json.js';
import type { FileFacts, Files } from '../storage/files.js';
import { identityOf, isSameIdentity } from '../storage/identity.js';
import type { Lock } from '../storage/lock.js';
import { splitLines } from '../storage/split-lines.js';
import { digestPlan, REGISTRY_FILE } from './registry-entry.js';
import type { KnownRun, RegistryState } from './registry-state.js';

export interface Fault {
  readonly where: string;
  readonly message: string;
}

/** A file may be written this long after the time in its last line: a disk may be slow. */
const LATE_MS = 60_000;
/** A write changes content and file at one time. */
const MOMENT_MS = 3_000;

/** What shows that the registry is not the one that was written here, or not as it was written last. */
export async function findRegistryFaults(
  files: Files,
  {
    jobDirectory,
    state,
    goodBytes,
    lock,
  }: { jobDirectory: string; state: RegistryState; goodBytes: number; lock: Lock },
): Promise<Fault[]> {
  const path = join(jobDirectory, REGISTRY_FILE);
  const [own, directory] = [await files.stat(path), await files.stat(jobDirectory)];
  const { registry, directory: known } = state;
  const faults: Fault[] = [];
  if (lock.isReplaced === true && registry !== undefined) {
    faults.push({
      where: jobDirectory,
      message: 'its lock file is not the one that was written last: it was put back, or copied',
    });
  }
  if (own === undefined || registry === undefined || known === undefined || directory === undefined) return faults;
  if (!isSameIdentity(known, identityOf(jobDirectory, directory))) {
    const where = known.path === jobDirectory ? 'that stood here' : `in ${known.path}`;
    faults.push({
      where: jobDirectory,
      message: `it is a copy of the directory ${where}, in which the registry was made`,
    });
  }
  if (!isSameIdentity(registry, identityOf(path, own))) {
    faults.push({ where: path, message: 'it is a copy of the file that was written here' });
  }
  faults.push(...findLoss({ path, bytes: goodBytes, knownBytes: lock.known(REGISTRY_FILE)?.bytes }));
  return [...faults, ...findLateChange({ path, own, lastAt: state.lastAt, lock })];
}

/** The same of a run that has begun. */
export async function findRunFaults(
  files: Files,
  { run, directories, lock }: { run: KnownRun; directories: RunDirectories; lock: Lock },
): Promise<Fault[]> {
  const { begun, ended, directory, journal } = run;
  const where = directories.of(begun.plan);
  const found = await files.stat(where);
  if (found === undefined || directory === undefined) {
    return [{ where, message: `the run that began ${timeOf(begun.at)} is gone` }];
  }
  if (!isSameIdentity(directory, identityOf(where, found))) {
    return [{ where, message: `it is a copy of the directory of the run that began ${timeOf(begun.at)}` }];
  }
  const planText = (await files.readText(join(where, PLAN_FILE))) ?? '';
  // One that is gone or damaged is refused for that.
  if (readSealed(planText)?.isSealed === true && digestPlan(planText) !== begun.planSha256) {
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
  const known = Math.max(ended?.journalBytes ?? 0, lock.known(journalKeyOf(begun.plan))?.bytes ?? 0);
  faults.push(...findLoss({ path, bytes: own.bytes, knownBytes: known }));
  if (ended?.state === 'finished') return faults;
  const lastAt = await readLastAt(files, path);
  return [...faults, ...(lastAt === undefined ? [] : findLateChange({ path, own, lastAt, lock }))];
}

function findLoss({
  path,
  bytes,
  knownBytes = 0,
}: {
  path: string;
  bytes: number;
  knownBytes: number | undefined;
}): Fault[] {
  if (bytes >= knownBytes) return [];
  return [
    {
      where: path,
      message: `it has ${bytes} good bytes, and had ${knownBytes}: an older copy was put in its place, or its end is cut off`,
    },
  ];
}

/**
 * Nothing can set the time of a file's last change: one that was put back in place has that of then, and its content the time that it
 * had. On a volume that Kubernetes gives to a group (`fsGroup`) at each mount it says nothing; the file's mode shows that.
 */
function findLateChange({
  path,
  own,
  lastAt,
  lock,
}: {
  path: string;
  own: FileFacts;
  lastAt: number;
  lock: Lock;
}): Fault[] {
  const isShared = (own.mode & 0o070) !== 0;
  if (own.changedMs === 0 || isShared) return [];
  // By the clock of the process that wrote the line.
  const changedAt = own.changedMs - (lock.lastDiskAheadMs ?? Number.POSITIVE_INFINITY);
  // Of a line that a power cut took, the file keeps the time alone; the lock of the process that wrote it is as late.
  const isLate = changedAt - Math.max(lastAt, lock.lastAttestedAt ?? lock.lastRenewedAt ?? 0) >= LATE_MS;
  if (!isLate && own.changedMs - own.modifiedMs < MOMENT_MS) return [];
  const message = `its last line is of ${timeOf(lastAt)}, and something else than volley changed the file ${timeOf(own.changedMs)}`;
  return [{ where: path, message }];
}

const TAIL_BYTES = 1 << 16;

/** The time in the last line of a journal that has one. */
async function readLastAt(files: Files, path: string): Promise<number | undefined> {
  const file = await files.openRead(path);
  let lastAt: number | undefined;
  try {
    for await (const { bytes, isWhole } of splitLines(file, Math.max(0, file.bytes - TAIL_BYTES))) {
      const entry = isWhole ? findLine(bytes)?.line.entry : undefined;
      if (entry !== undefined && 'at' in entry) lastAt = Math.max(lastAt ?? 0, entry.at);
    }
  } finally {
    await file.close();
  }
  return lastAt;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
