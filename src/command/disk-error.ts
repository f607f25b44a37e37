import { basename, dirname, relative, sep } from 'node:path';
import { InternalError } from '../domain/errors.js';
import { EXIT } from '../report/exit-code.js';

/**
 * Where an error of the system struck:
 *   given   a path that a person wrote: a job, an input, a directory of theirs
 *   output  the output directory, or one above it that was to be made
 *   job     the directory of a job that stands already, and its lock
 *   run     a file of a run, or of a plan
 *   unknown no path says it: files that ran out, a pipe, a socket
 */
export type DiskPlace = 'given' | 'output' | 'job' | 'run' | 'unknown';

export interface DiskError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
  /** Set by `placeDiskErrors`. */
  place?: DiskPlace;
}

export function isDiskError(error: unknown): error is DiskError {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** The error itself or its cause: a journal that cannot be written is wrapped in an error of its own. */
export function findDiskError(error: unknown): DiskError | undefined {
  if (isDiskError(error)) return error;
  return error instanceof InternalError && isDiskError(error.cause) ? error.cause : undefined;
}

type Ends = Readonly<Record<DiskPlace, number>>;

/** Someone must change a path, a permission or a name first; in a run, something is missing that must exist. */
const BY_PERSON: Ends = {
  given: EXIT.notStarted,
  output: EXIT.notStarted,
  job: EXIT.notStarted,
  run: EXIT.stopped,
  unknown: EXIT.stopped,
};
/** Transient: the same command may succeed later. */
const BY_MACHINE: Ends = {
  given: EXIT.again,
  output: EXIT.again,
  job: EXIT.again,
  run: EXIT.again,
  unknown: EXIT.again,
};

/** What the system answers, in words, and how a command ends with it at each place. */
const ANSWERS: Readonly<Record<string, { says: string; ends: Ends }>> = {
  ENOENT: { says: 'it does not exist', ends: BY_PERSON },
  ENOTDIR: { says: 'a part of the path is a file, expected a directory', ends: BY_PERSON },
  EISDIR: { says: 'it is a directory, expected a file', ends: BY_PERSON },
  EEXIST: { says: 'something else exists there', ends: BY_PERSON },
  ENOTEMPTY: { says: 'something else exists there', ends: BY_PERSON },
  ELOOP: { says: 'it is a symbolic link that points back to itself', ends: BY_PERSON },
  ENAMETOOLONG: { says: 'the path is too long', ends: BY_PERSON },
  EINVAL: { says: 'the file system does not allow this name', ends: BY_PERSON },
  EACCES: { says: 'this user has no permission', ends: BY_PERSON },
  EPERM: { says: 'this user has no permission', ends: BY_PERSON },
  EADDRINUSE: { says: 'another process uses this port', ends: BY_PERSON },
  EADDRNOTAVAIL: { says: 'this machine has no such address', ends: BY_PERSON },
  // The system remounts a failing disk read-only; a directory that was still to be made there was never writable.
  EROFS: { says: 'the disk is read-only', ends: { ...BY_MACHINE, given: EXIT.notStarted, output: EXIT.notStarted } },
  ENOSPC: { says: 'the disk is full', ends: BY_MACHINE },
  EDQUOT: { says: 'the disk quota of this user is used up', ends: BY_MACHINE },
  EFBIG: { says: 'the file has reached the largest size allowed', ends: BY_MACHINE },
  EIO: { says: 'the disk failed', ends: BY_MACHINE },
  EMFILE: { says: 'this process has too many open files', ends: BY_MACHINE },
  ENFILE: { says: 'this machine has too many open files', ends: BY_MACHINE },
  ENOMEM: { says: 'there is no memory left', ends: BY_MACHINE },
  ESTALE: { says: 'it is gone from the network disk', ends: BY_MACHINE },
  ETIMEDOUT: { says: 'the network disk does not answer', ends: BY_MACHINE },
  EBUSY: { says: 'another process uses it', ends: BY_MACHINE },
  EPIPE: { says: 'no process reads the output', ends: BY_MACHINE },
};

/**
 * The exit code: 2 when a person must change their input, 4 when they must look at a run, 75 when the same command may
 * succeed later.
 */
export function exitCodeOfDisk({ code, place = 'unknown' }: Pick<DiskError, 'code' | 'place'>): number {
  return (ANSWERS[code]?.ends ?? BY_MACHINE)[place];
}

/** The errors that the table lists; for its test, and for the page that repeats it. */
export const KNOWN_ERRNOS: readonly string[] = Object.keys(ANSWERS);

/** Runs a task in a job's directory, and adds to a system error where it occurred. */
export function placeDiskErrors<T>(jobDirectory: string, task: () => Promise<T>): Promise<T> {
  return notePlace((path) => placeOf(path, jobDirectory), task);
}

/** The same of a task on a path that a person gave, and on what stands beside it. */
export function passDiskErrors<T>(task: () => Promise<T>): Promise<T> {
  return notePlace(() => 'given', task);
}

async function notePlace<T>(placeOf: (path: string) => DiskPlace, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const found = findDiskError(error);
    if (found?.path !== undefined) found.place ??= placeOf(found.path);
    throw error;
  }
}

function placeOf(path: string, jobDirectory: string): DiskPlace {
  const inside = relative(jobDirectory, path);
  if (inside === '') return 'job';
  // Above it.
  if (/^\.\.(\/\.\.)*$/.test(inside)) return 'output';
  if (inside.startsWith('..')) return 'given';
  const [first = '', ...rest] = inside.split(sep);
  return rest.length === 0 || first.startsWith('.') ? 'job' : 'run';
}

export function describeDisk({ code, syscall, path, place = 'unknown' }: DiskError): { message: string; hint: string } {
  const says = ANSWERS[code]?.says ?? 'the system refuses it';
  const at = path === undefined ? '' : ` ${path}`;
  return {
    message: `Cannot ${DOING[syscall] ?? 'use'}${at === '' ? ' a file' : at}: ${says} (${code}, ${syscall})`,
    hint: adviseOnDisk(code, place, path),
  };
}

const DOING: Readonly<Record<string, string>> = {
  mkdir: 'make the directory',
  scandir: 'list',
  open: 'open',
  read: 'read',
  write: 'write',
  fsync: 'write',
  fdatasync: 'write',
  rename: 'rename',
  rm: 'remove',
  unlink: 'remove',
  listen: 'listen on',
};

function adviseOnDisk(code: string, place: DiskPlace, path: string | undefined): string {
  switch (exitCodeOfDisk({ code, place })) {
    case EXIT.notStarted:
      return place === 'output' || place === 'job'
        ? 'Nothing was sent. Name another directory as `output` in the job, or give this user permission to write there.'
        : 'Nothing was sent. Check the path.';
    case EXIT.stopped:
      return path === undefined
        ? 'Nothing was sent without a record of it on disk. Find out why the system refuses it, then run the same command to resume.'
        : `A run needs all of its files: put ${basename(path)} back into ${dirname(path)} as it was, readable for this user, then run the same command.`;
    default:
      return code === 'EMFILE' || code === 'ENFILE'
        ? 'Nothing was sent without a record of it on disk. Allow more open files, for example with a higher `ulimit -n`, then run the same command to resume.'
        : 'Nothing was sent without a record of it on disk. Make room or fix the disk, then run the same command to resume.';
  }
}
