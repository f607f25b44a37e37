import { type Dirent, stat as look, lstat, readdir, realpath, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { type GlobOptions, glob, isDynamicPattern } from 'tinyglobby';
import type { Problem } from '../domain/errors.js';
import type { Input } from '../job/job.js';
import { describeDiskError, refuseAll } from './record-reader.js';

export interface InputFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the job file, with forward slashes. */
  readonly shown: string;
  readonly format: NonNullable<Input['format']>;
  /** The key of the job below which it is named, for hints; absent for the input of a step. */
  readonly key?: 'suppress' | 'optOuts' | 'prices' | undefined;
}

/** Where the job says how a file is read, for hints. */
export function placeInJob({ key }: Pick<InputFile, 'key'>): string {
  return key === undefined ? 'in the input of the job' : `under ${key} in the job`;
}

/**
 * The files that absolute paths and glob patterns name, each once, sorted by path; `directory` is that of the job
 * file. Refuses, all at once: what names nothing, is no regular file, or may not be read. A directory that matches a
 * pattern is skipped, and so is the mark of an open workbook. With `onEmptyPattern` a pattern may match no file, as long as its
 * directory exists: an inbox may be empty.
 */
export async function listInputs(
  patterns: readonly string[],
  directory: string,
  onEmptyPattern?: (shown: string) => void,
): Promise<InputFile[]> {
  const show = (path: string) => relative(directory, path).replaceAll(sep, '/') || '.';
  const problems: Problem[] = [];
  const files = new Map<string, InputFile>();
  for (const pattern of patterns) {
    for (const path of await findPaths(pattern, show, problems, onEmptyPattern)) {
      if (files.has(path)) continue;
      const fault = await findFault(path);
      const shown = show(path);
      if (fault === undefined) files.set(path, { path, shown, format: formatByName(path) });
      else
        problems.push({
          where: shown,
          message: `${fault}, expected a file that can be read`,
          hint: hintOf(shown, fault),
        });
    }
  }
  if (problems.length > 0) throw refuseAll(problems);
  return [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** A hint for what a shell user may expect. */
function hintOf(shown: string, fault: string): string | undefined {
  if (fault !== 'it is a directory') return undefined;
  return `For the files in it write a pattern: "${shown.replace(/\/$/, '')}/*.csv"`;
}

async function findPaths(
  pattern: string,
  show: (path: string) => string,
  problems: Problem[],
  onEmptyPattern: ((shown: string) => void) | undefined,
): Promise<readonly string[]> {
  if (!isDynamicPattern(pattern) || (await find(pattern)) !== undefined) return [pattern];
  const { paths: found, unlisted } = await searchPattern(pattern);
  const paths = found.filter((path) => !isOpenMark(path));
  for (const { path, error } of unlisted) {
    const reason = describeDiskError(error) ?? String(error);
    problems.push({ where: show(path), message: `${reason}, expected a directory that can be searched` });
  }
  if (paths.length > 0 || unlisted.length > 0) return paths;
  if (onEmptyPattern !== undefined) onEmptyPattern(show(pattern));
  else problems.push({ where: show(pattern), message: 'the pattern matches no file, expected at least one' });
  return paths;
}

/** Whether a file is the mark that Excel leaves beside a workbook while it is open: `~$people.xlsx`. It holds no rows. */
export function isOpenMark(path: string): boolean {
  return basename(path).startsWith('~$');
}

/** Stat before open: opening a pipe would wait for a writer. */
async function findFault(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'it is a directory';
    if (found.isFIFO()) return 'it is a pipe';
    if (!found.isFile()) return 'it is not a regular file';
    if (isOpenMark(path)) return 'it is the mark of a workbook that is open in Excel';
    await (await open(path, 'r')).close();
    return undefined;
  } catch (error) {
    const reason = describeDiskError(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

/** The format of a file, by its name, where the job states none. */
export function formatByName(path: string): InputFile['format'] {
  if (/\.xls[xm]$/i.test(path)) return 'xlsx';
  return /\.(ndjson|jsonl?)(\.gz)?$/i.test(path) ? 'ndjson' : 'csv';
}

/**
 * Absolute paths that match an absolute glob pattern, sorted, without directories. Broken links and pipes are
 * included, so that they are refused and not skipped; `unlisted` are directories that could not be searched.
 */
async function searchPattern(
  pattern: string,
): Promise<{ paths: string[]; unlisted: { path: string; error: unknown }[] }> {
  const unlisted: { path: string; error: unknown }[] = [];
  const { root, rest } = await splitPattern(pattern);
  const paths = await glob([rest], {
    cwd: root,
    absolute: true,
    expandDirectories: false,
    fs: attentiveFs((path, error) => unlisted.push({ path, error })),
  });
  return { paths: paths.sort(), unlisted };
}

/** An existing directory is taken by its name, even when the name holds pattern characters. */
async function splitPattern(pattern: string): Promise<{ root: string; rest: string }> {
  const segments = pattern.split('/');
  let root = '/';
  let taken = 1;
  while (taken < segments.length - 1) {
    const next = join(root, segments[taken] ?? '');
    if ((await find(next))?.isDirectory() !== true) break;
    root = next;
    taken += 1;
  }
  return { root, rest: segments.slice(taken).join('/') };
}

/** Looks at a path; undefined where nothing is there, or it cannot be looked at. */
function find(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

type GlobFs = NonNullable<GlobOptions['fs']>;
type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void;

/** The globbing library silently omits what it cannot list, follow or stat; this file system reports it. */
function attentiveFs(onUnlisted: (path: string, error: unknown) => void): GlobFs {
  const list = (path: string, options: { withFileTypes: true }, callback: Callback<Dirent[]>) =>
    readdir(path, options, (error, entries) => {
      if (error !== null) onUnlisted(path, error);
      callback(error, entries?.map(countAsFile));
    });
  const follow = (path: string, callback: Callback<string>) =>
    realpath(path, (error, target) => callback(null, error === null ? target : path));
  const inspect = (path: string, callback: Callback<Stats>) =>
    look(path, (error, found) => (error === null ? callback(null, found) : lstat(path, callback)));
  return { readdir: list, realpath: follow, stat: inspect } as unknown as GlobFs;
}

function countAsFile(entry: Dirent): Dirent {
  if (!entry.isDirectory() && !entry.isSymbolicLink()) entry.isFile = () => true;
  return entry;
}
