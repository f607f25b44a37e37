import type { Terminal } from '../../command/terminal.js';
import type { ClusterSettings } from '../../job/job.js';
import { readSecret } from '../../job/secrets.js';
import { nodeFiles } from '../../storage/files.js';

/** The flags of verbs without a job (database-options.ts). */
export const DATABASE_FLAGS = { flags: '--database-env or --database-file' };

/** The address of the database, which holds a password. `elsewhere`: the flags of the command, if it has some. */
export function readAddress(
  source: ClusterSettings['database'],
  { env }: Pick<Terminal, 'env'>,
  elsewhere: Partial<typeof DATABASE_FLAGS> = {},
): Promise<string> {
  return readSecret(source, { env, readFile: nodeFiles.readText, ...elsewhere }, 'the address of the database');
}
