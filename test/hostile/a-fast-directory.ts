import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function aFastDirectory(): { directory: string; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'volley-hostile-'));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
