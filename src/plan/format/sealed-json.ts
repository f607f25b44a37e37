import { createHash } from 'node:crypto';

/**
 * JSON whose last key `sha256` is the SHA-256, in hex, of all bytes of the file before it: so the file itself reveals
 * any changed byte.
 */
export function sealJson(value: object): string {
  return seal(JSON.stringify(value, undefined, 2).slice(0, -JSON_END.length));
}

/** The value without its digest; undefined if it is not JSON, or not byte for byte what was sealed. */
export function readSealed(text: string): ReturnType<typeof JSON.parse> | undefined {
  try {
    const { sha256: _, ...value } = JSON.parse(text);
    return seal(text.slice(0, -TAIL_LENGTH)) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const JSON_END = '\n}';

function seal(text: string): string {
  return `${text}${tailOf(createHash('sha256').update(text).digest('hex'))}`;
}

function tailOf(sha256: string): string {
  return `,\n  "sha256": "${sha256}"${JSON_END}\n`;
}

const TAIL_LENGTH = tailOf('0'.repeat(64)).length;
