import { hash } from 'node:crypto';
import { UserError } from '../../domain/errors.js';
import { parseJson } from '../../domain/is-object.js';

/**
 * JSON whose last key `sha256` is the SHA-256, in hex, of all bytes of the file before it: so the file itself reveals
 * any changed byte.
 */
export function sealJson(value: object): string {
  return seal(JSON.stringify(value, undefined, 2).slice(0, -JSON_END.length));
}

/** The value without its digest; undefined if it is not JSON, or not byte for byte what was sealed. */
export function readSealed(text: string): ReturnType<typeof JSON.parse> | undefined {
  const { sha256: _, ...value } = parseJson(text) ?? {};
  return seal(text.slice(0, -TAIL_LENGTH)) === text ? value : undefined;
}

/** SHA-256, in hex. */
export function sha256Of(text: string): string {
  return hash('sha256', text);
}

const JSON_END = '\n}';

function seal(text: string): string {
  return `${text}${tailOf(sha256Of(text))}`;
}

function tailOf(sha256: string): string {
  return `,\n  "sha256": "${sha256}"${JSON_END}\n`;
}

const TAIL_LENGTH = tailOf('0'.repeat(64)).length;

/** A plan file that is missing or changed: it must not be used to send, report or settle. */
export function planDamaged(path: string, found: string, expected = 'expected it as it was planned'): UserError {
  return new UserError('plan-damaged', `Cannot use ${path}: ${found}, ${expected}`, {
    hint: 'Nothing is sent, reported or settled by a damaged plan. Put the file back from a copy; or, if nothing of the run was sent yet, remove its directory and plan the job again.',
  });
}
