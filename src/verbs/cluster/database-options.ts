import { UserError } from '../../domain/errors.js';
import { textOption } from '../verb.js';

/** Where the address of the database is, for verbs without a job. */
export const databaseOptions = {
  'database-env': textOption(
    'Environment variable that holds the address of the database (default: VOLLEY_DATABASE_URL)',
  ),
  'database-file': textOption('File that holds the address of the database'),
} as const;

export function readDatabase(
  env: string | undefined,
  file: string | undefined,
): { readonly env: string } | { readonly file: string } {
  if (env !== undefined && file !== undefined) {
    throw new UserError(
      'bad-flag',
      'Cannot read the address of the database: --database-env and --database-file are given, expected one',
    );
  }
  return file === undefined ? { env: env ?? 'VOLLEY_DATABASE_URL' } : { file };
}
