import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In memory where there is such a disk: many small runs would wait for syncs of the real one for most of their time. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export function aFastDirectory(): { directory: string; remove: () => void } {
  const directory = mkdtempSync(join(ROOT, 'volley-hostile-'));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
