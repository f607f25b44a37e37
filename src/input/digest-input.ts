import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { refuseUnreadable } from './refusal.js';

/** Bytes read from disk at a time; csv-parse is fastest with pieces of this size. */
const PIECE_BYTES = 256 * 1024;

/** Bytes so far. */
export class Digest {
  readonly #hash = createHash('sha256');
  bytes = 0;

  update(piece: Uint8Array): void {
    this.#hash.update(piece);
    this.bytes += piece.length;
  }

  /** The digest of the bytes so far, in lower-case hex. */
  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** The bytes of a file as they are on disk, in pieces of 256 KB. Refuses a file that cannot be read. */
export async function* readPieces(path: string, shown: string, digest?: Digest): AsyncGenerator<Buffer> {
  try {
    for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
      digest?.update(piece);
      yield piece;
    }
  } catch (error) {
    throw refuseUnreadable(shown, error);
  }
}

/** SHA-256 over the bytes on disk, compressed as they are. */
export async function digestInput(path: string): Promise<{ sha256: string; bytes: number }> {
  const digest = new Digest();
  for await (const _piece of readPieces(path, basename(path), digest));
  return { sha256: digest.sha256, bytes: digest.bytes };
}
