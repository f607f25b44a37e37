import { crc32 } from 'node:zlib';
import type { FileFacts, Files, UpdatedFile } from './files.js';
import { type Identity, identityOf, isSameIdentity } from './identity.js';

/** What the owner of the lock knows of a file that it writes. */
export interface Noted {
  /** Where the last good line ends that is on disk; of the memory, which is written whole, the number of its change. */
  readonly bytes: number;
  /** When it last changed, as read back from its disk while it was so long; absent where that is not known. */
  readonly changedMs?: number;
  readonly mode?: number;
}

/** By the file's key. */
export type Known = Readonly<Record<string, Noted>>;

export function noteOf(bytes: number, found: FileFacts | undefined): Noted {
  // Behind a longer one another process has written.
  if (found === undefined || found.bytes !== bytes || found.changedMs === 0) return { bytes };
  return { bytes, changedMs: found.changedMs, mode: found.mode };
}

const CRC_DIGITS = 8;

/**
 * The note: the second line of the lock's file, rewritten in place and not synced, so cheap enough for each group of intents. A kill cannot
 * lose it. A power cut can, or leaves a piece of it: then what the first line says counts, which is older, and true as well, since
 * a note never claims more than was synced before it. What stands behind its line is of a longer one.
 */
function encodeNote(known: Known): Buffer {
  return Buffer.from(`${seal(JSON.stringify(known))}\n`);
}

/** Undefined for a piece of one, down to a digit of its checksum: that of nothing is 0. */
export function decodeNote(line: string): Known | undefined {
  const body = line.slice(CRC_DIGITS + 1);
  return body !== '' && line === seal(body) ? JSON.parse(body) : undefined;
}

function seal(body: string): string {
  return `${crc32(body).toString(16).padStart(CRC_DIGITS, '0')} ${body}`;
}

interface FirstLine {
  /** Of the file that it is in. */
  readonly own: Identity;
  readonly bytes: number;
}

/** Writes notes into the lock's file as it was last written whole. */
export class NotePad {
  readonly #files: Files;
  readonly #path: string;
  #first: FirstLine | undefined;
  #file: UpdatedFile | undefined;

  constructor(files: Files, path: string) {
    this.#files = files;
    this.#path = path;
  }

  /** The file was written anew. */
  async turn(first: FirstLine | undefined): Promise<void> {
    this.#first = first;
    await this.close();
  }

  /** False: our file is gone, or another's. */
  async write(known: Known): Promise<boolean> {
    this.#file ??= await this.#files.openUpdate(this.#path);
    const [first, file] = [this.#first, this.#file];
    if (first === undefined || file === undefined) return false;
    if (!isSameIdentity(first.own, identityOf(this.#path, file.facts))) return false;
    await file.write(encodeNote(known), first.bytes);
    return true;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}
