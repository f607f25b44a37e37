import { type Problem, UserError } from '../domain/errors.js';

/** A refusal of a file as a whole, for one reason: "<what is so>, expected <what should be>". */
export function refuse(problem: Problem): UserError {
  return refuseAll([problem]);
}

/** A refusal for several reasons at once; there is at least one. */
export function refuseAll(problems: readonly Problem[]): UserError {
  const [first] = problems;
  const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const message = `Cannot read ${first?.where}: ${first?.message}${others}`;
  return new UserError('bad-input', message, { hint: first?.hint, problems });
}

/** A refusal for a disk error; any other error is returned as it is. */
export function refuseUnreadable(shown: string, error: unknown): unknown {
  const reason = describeDiskError(error);
  if (reason === undefined) return error;
  return refuse({ where: shown, message: `${reason}, expected a file that can be read` });
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'this user has no permission to read it',
  EPERM: 'this user has no permission to read it',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a symbolic link that points back to itself',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'this process has too many open files',
  EIO: 'the disk failed',
};

/** Describes an error of the disk for a person; undefined for any other error. */
export function describeDiskError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return DISK_ERRORS[String(error.code)] ?? `the disk answered ${String(error.code)}`;
}
