import { UserError } from '../domain/errors.js';
import { trimEndOf } from '../domain/trim-end.js';
import type { Files } from '../storage/files.js';
import type { SecretSource } from './job.js';

/** Longer than any key; a larger file is the wrong file. */
const MAX_LENGTH = 8192;

/**
 * Reads a secret, without the line end that editors put after it. `what` names it in errors: "the API key of sms".
 * Refuses with `bad-credentials` what is missing, empty, or not one line of printable ASCII; the error names the variable or the file, never the value.
 */
export async function readSecret(
  source: SecretSource,
  {
    env,
    readFile,
    flags,
  }: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly readFile: Files['readText'];
    /** That name another place, where the command has some: `--database-env or --database-file`. */
    readonly flags?: string;
  },
  what: string,
): Promise<string> {
  const where = 'env' in source ? `the environment variable ${source.env}` : `the file ${source.file}`;
  const refuse = (so: string, expected: string, hint: string) =>
    new UserError('bad-credentials', `Cannot read ${what}: ${where} ${so}, expected ${expected}`, { hint });

  let text: string | undefined;
  if ('env' in source) {
    text = Object.hasOwn(env, source.env) ? env[source.env] : undefined;
  } else {
    try {
      text = await readFile(source.file);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      throw refuse(`cannot be read (${code})`, 'a readable file', 'Check the path and its permissions.');
    }
  }
  if (text === undefined) {
    throw refuse(
      'env' in source ? 'is not set' : 'does not exist',
      `it to contain ${what}`,
      hintOfMissing(source, flags),
    );
  }

  const secret = trimEndOf(text, '\r\n');
  if (secret === '') throw refuse('is empty', `it to contain ${what}`, 'Put it there.');
  if (secret.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(secret)) {
    const hint = 'Look for spaces, quotes from a word processor, or a second line.';
    throw refuse('contains spaces, control characters or non-ASCII letters, or is very long', 'only the secret', hint);
  }
  return secret;
}

function hintOfMissing(source: SecretSource, flags: string | undefined): string {
  const elsewhere = flags === undefined ? '' : `, or name another place with ${flags}`;
  if ('env' in source) return `Set it before you start Volley${elsewhere}.`;
  return flags === undefined ? 'Check the path; it is relative to the job file.' : `Check the path${elsewhere}.`;
}
