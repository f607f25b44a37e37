import { type Dirent, lstat, readdir, realpath, type Stats, stat } from 'node:fs';
import { stat as statPath } from 'node:fs/promises';
import { join } from 'node:path';
import { type GlobOptions, glob } from 'tinyglobby';

/**
 * Absolute paths that match an absolute glob pattern, sorted, without directories. Broken links and pipes are
 * included, so that they are refused and not skipped; `unlisted` are directories that could not be searched.
 */
export async function searchPattern(
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
    if (!(await isDirectory(next))) break;
    root = next;
    taken += 1;
  }
  return { root, rest: segments.slice(taken).join('/') };
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await statPath(path)).isDirectory();
  } catch {
    return false;
  }
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
    stat(path, (error, found) => (error === null ? callback(null, found) : lstat(path, callback)));
  return { readdir: list, realpath: follow, stat: inspect } as unknown as GlobFs;
}

function countAsFile(entry: Dirent): Dirent {
  if (!entry.isDirectory() && !entry.isSymbolicLink()) entry.isFile = () => true;
  return entry;
}
