import { UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { decodeRegistryLine, type RegistryEntry } from '../registry-entry.js';

/** Lines of the registry that a directory has a copy of; none where the file is not there. Refuses a line that is damaged. */
export async function readMark(files: Files, path: string): Promise<RegistryEntry[]> {
  if ((await files.stat(path)) === undefined) return [];
  const lines = ((await files.readText(path)) ?? '').replace(/\n$/, '').split('\n');
  return lines.map((line, at) => {
    const entry = decodeRegistryLine(Buffer.from(line));
    if (entry !== undefined) return entry;
    throw new UserError('registry-mismatch', `Cannot use ${path}: line ${at + 1} is damaged`, {
      hint: 'Nothing was sent. Put it back from a backup: it says which files the run took.',
    });
  });
}
