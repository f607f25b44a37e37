import { basename, dirname, relative, sep } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { firstFailure } from '../domain/closing.js';
import { InternalError, nameCode, UNNAMED_ERRORS, UserError } from '../domain/errors.js';
import { EXIT } from '../report/exit-code.js';

/**
 * Where an error of the system struck:
 *   given   a path that a person wrote: a job, an input, a directory of theirs
 *   output  the output directory, or one above it that was to be made
 *   job     the directory of a job that stands already, and its lock
 *   run     a file of a run, or of a plan; any path, once the run has begun
 *   unknown no path says it: files that ran out, a pipe, a socket
 */
export type DiskPlace = 'given' | 'output' | 'job' | 'run' | 'unknown';

interface DiskError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
  /** Set by `placeDiskError`. */
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

/** Where a person must change a path, a permission or a name first; in a run, something is missing that must exist. All else is transient. */
const BY_PERSON: ReadonlySet<string> = new Set([
  ...['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP', 'ENAMETOOLONG'],
  ...['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM'],
]);

/** The working directory is asked for; it may have been removed. */
const CWD = 'uv_cwd';

/**
 * The exit code: 2 when a person must change their input, 4 when they must look at a run, 75 when the same command may
 * succeed later.
 */
export function exitCodeOfDisk({
  code,
  syscall,
  path = '',
  place = syscall === CWD ? 'given' : 'unknown',
}: Pick<DiskError, 'code' | 'path' | 'place'> & { readonly syscall?: string }): number {
  // The system remounts a failing disk read-only; a directory that was still to be made there was never writable.
  if (code === 'EROFS') return place === 'given' || place === 'output' ? EXIT.notStarted : EXIT.again;
  // A process that begins to send a run removes what others have not finished, also of a report that is written meanwhile.
  const isTakenAway = code === 'ENOENT' && syscall === 'rename' && path.endsWith('.part');
  if (!BY_PERSON.has(code) || isTakenAway) return EXIT.again;
  return place === 'run' || place === 'unknown' ? EXIT.stopped : EXIT.notStarted;
}

/** Adds to an error of the system where it occurred. `jobDirectory`: of the job that the command works on, once that is known. */
export function placeDiskError(error: unknown, jobDirectory: string | undefined): void {
  const found = findDiskError(error);
  if (found?.path !== undefined) found.place ??= placeOf(found.path, jobDirectory);
}

/** Places an error in the run that was being sent when it struck, wherever its path is: a person must look at the run. */
export function placeInRun(thrown: unknown): void {
  const error = firstFailure(thrown);
  if (error instanceof UserError) error.isInRun = true;
  const found = findDiskError(error);
  if (found !== undefined) found.place = 'run';
}

function placeOf(path: string, jobDirectory: string | undefined): DiskPlace {
  if (jobDirectory === undefined) return 'given';
  const inside = relative(jobDirectory, path);
  if (inside === '') return 'job';
  // Above it.
  if (/^\.\.(\/\.\.)*$/.test(inside)) return 'output';
  if (inside.startsWith('..')) return 'given';
  const [first = '', ...rest] = inside.split(sep);
  return rest.length === 0 || first.startsWith('.') ? 'job' : 'run';
}

export function describeDisk(error: DiskError): { message: string; hint: string } {
  const { code, syscall, path = syscall === CWD ? 'the working directory' : 'a file' } = error;
  if (code === 'EPIPE')
    return {
      message: `Cannot print: what read its output has ended (${code}, ${syscall})`,
      hint: `${RECORDED} Run the same command again, with its output in a file or read to its end.`,
    };
  return { message: `Cannot use ${path}: ${nameDiskError(error)} (${code}, ${syscall})`, hint: adviseOnDisk(error) };
}

const SYSTEM_WORDS = new Map([
  ...[...getSystemErrorMap().values(), ...Object.values(UNNAMED_ERRORS)],
  ['ENOTSUP', 'operation not supported'],
]);

/** In the system's own words, by which it can be looked up: `no space left on device`. */
export function nameDiskError({ code }: DiskError): string {
  return SYSTEM_WORDS.get(nameCode(code)) ?? 'the system refuses it';
}

/** It holds whenever an error strikes, also behind what was sent. */
const RECORDED = 'All that was sent is on record: `volley status` shows it.';
const PERMISSION: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/** Advice that is right whatever the command has done by then: no more is known here. */
function adviseOnDisk(error: DiskError): string {
  const { code, path = '', place, syscall } = error;
  const isPermission = PERMISSION.has(code);
  switch (exitCodeOfDisk(error)) {
    case EXIT.notStarted:
      return place === 'output' || place === 'job'
        ? `${RECORDED} ${isPermission && place === 'job' ? permit(path) : syscall.endsWith('sync') ? SYNC : 'See that it is a directory in which this user may write'}, then run the same command. Name another \`output\` only in a job that never sent: to whom a job has sent stands in that directory, and it would send to them again.`
        : 'Check the path, and that this user may use it.';
    case EXIT.stopped:
      if (path === '') return `${RECORDED} Find out why the system refuses it, then run the same command to resume.`;
      return isPermission
        ? `${RECORDED} ${permit(path)}, then run the same command to resume.`
        : `A run needs all of its files: put ${basename(path)} back into ${dirname(path)} as it was, readable for this user, then run the same command.`;
    default:
      return `${RECORDED} ${FIX[code] ?? 'Make room or fix the disk'}, then run the same command to resume.`;
  }
}

const SYNC = 'Mount a file system there that can keep what it is given over a power cut (`fsync`)';
const MORE_FILES = 'Allow more open files, for example with a higher `ulimit -n`';
const FIX: Readonly<Record<string, string>> = {
  EDQUOT: 'Make room, or allow more by the quota',
  ENOENT: 'Wait until the process that has begun to send the run is done',
  EMFILE: MORE_FILES,
  ENFILE: MORE_FILES,
  ESTALE: 'Mount the volume again',
  EFBIG: 'Allow longer files, for example with a higher `ulimit -f`',
  EROFS: 'Mount it so that it can be written to, or fix the disk',
};

/** What is in a job's directory may be of another user, who ran the job once. */
function permit(path: string): string {
  return `Give this user permission to read and write ${dirname(path)} and what is in it`;
}
