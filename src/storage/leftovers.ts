import { join } from 'node:path';
import type { Files } from './files.js';

/**
 * Removes from a directory what processes left that died while they wrote: files, and directories, that have no name of their own yet. `prefix`:
 * of their names; `beforeMs`: only what was last written before then, where other processes may be at work now.
 */
export async function removeLeftovers(
  files: Pick<Files, 'list' | 'stat' | 'remove'>,
  directory: string,
  { prefix = '', beforeMs }: { prefix?: string; beforeMs?: number } = {},
): Promise<void> {
  for (const name of await files.list(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith('.part')) continue;
    const path = join(directory, name);
    const isOld = beforeMs === undefined || ((await files.stat(path))?.modifiedMs ?? beforeMs) < beforeMs;
    if (isOld) await files.remove(path);
  }
}
