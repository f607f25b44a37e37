import { join } from 'node:path';
import type { Files } from '../../storage/files.js';

/** Bytes that are only ever appended to, in memory or in a file. Appends must not overlap; reads may. */
export interface ByteLog {
  readonly bytes: number;
  append(chunk: Uint8Array): Promise<void>;
  /** Fewer bytes than `length` only at the end. */
  read(offset: number, length: number): Promise<Buffer>;
  /** Cuts everything behind `bytes` off. */
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

const BLOCK_BYTES = 1 << 20;

/** Holds the bytes in blocks of 1 MiB, outside the heap: no object for each line. */
export function createMemoryLog(): ByteLog {
  let blocks: Buffer[] = [];
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    append: async (chunk) => {
      let taken = 0;
      while (taken < chunk.length) {
        const place = bytes % BLOCK_BYTES;
        if (place === 0) blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
        const piece = chunk.subarray(taken, taken + BLOCK_BYTES - place);
        blocks[blocks.length - 1]?.set(piece, place);
        taken += piece.length;
        bytes += piece.length;
      }
    },
    read: async (offset, length) => {
      const end = Math.min(offset + length, bytes);
      const pieces: Buffer[] = [];
      for (let at = offset; at < end; ) {
        const place = at % BLOCK_BYTES;
        const piece = blocks[Math.floor(at / BLOCK_BYTES)]?.subarray(place, Math.min(place + end - at, BLOCK_BYTES));
        if (piece === undefined) break;
        pieces.push(piece);
        at += piece.length;
      }
      return Buffer.concat(pieces);
    },
    truncate: async (length) => {
      bytes = Math.min(bytes, length);
      blocks = blocks.slice(0, Math.ceil(bytes / BLOCK_BYTES));
    },
    close: async () => {
      blocks = [];
      bytes = 0;
    },
  };
}

/**
 * Opens `<directory>/ledger.ndjson`, creating both if missing. What was appended outlives the process. A disk that fails
 * may keep a piece of what it refused: it is no part of `bytes`, and cut off before the next append.
 */
export async function openFileLog(files: Files, directory: string): Promise<ByteLog> {
  await files.makeDirectory(directory);
  const path = join(directory, 'ledger.ndjson');
  const appending = await files.openAppend(path);
  const reading = await files.openRead(path);
  let isTorn = false;
  return {
    get bytes() {
      return appending.bytes;
    },
    append: async (chunk) => {
      if (isTorn) await appending.truncate(appending.bytes);
      isTorn = true;
      await appending.append(chunk);
      isTorn = false;
    },
    read: (offset, length) => reading.read(offset, length),
    truncate: (length) => appending.truncate(length),
    close: async () => {
      await appending.close();
      await reading.close();
    },
  };
}

const READ_BYTES = 1 << 20;

/** Every whole line in the log when reading began, without its newline, and where it ends. */
export async function* readLines(log: ByteLog): AsyncGenerator<{ line: Buffer; endsAt: number }> {
  const end = log.bytes;
  let held: Buffer[] = [];
  for (let offset = 0; offset < end; ) {
    const piece = await log.read(offset, Math.min(READ_BYTES, end - offset));
    // Cleared while it was being read.
    if (piece.length === 0) return;
    let start = 0;
    for (let newline = piece.indexOf(10); newline !== -1; newline = piece.indexOf(10, start)) {
      const tail = piece.subarray(start, newline);
      yield { line: held.length === 0 ? tail : Buffer.concat([...held, tail]), endsAt: offset + newline + 1 };
      held = [];
      start = newline + 1;
    }
    if (start < piece.length) held.push(piece.subarray(start));
    offset += piece.length;
  }
}
