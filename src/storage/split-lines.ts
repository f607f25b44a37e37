import type { ReadFile } from './files.js';

const CHUNK_BYTES = 1 << 20;
const SMALL_CHUNK_BYTES = 1 << 16;
const NEWLINE = 10;

export interface Line {
  /** Without its newline. */
  readonly bytes: Buffer;
  readonly offset: number;
  /** False for the last one when no newline ends it. */
  readonly isWhole: boolean;
}

/** The lines of a file, in batches of one read: iterating them one by one takes twice as long. */
export async function* splitPieces(file: ReadFile, start = 0): AsyncGenerator<Line[]> {
  for await (const { bytes, offset, end, isLast } of readToNewlines(file, start)) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && at < end; at = bytes.indexOf(NEWLINE, from)) {
      lines.push({ bytes: bytes.subarray(from, at), offset: offset + from, isWhole: true });
      from = at + 1;
    }
    if (isLast && from < bytes.length)
      lines.push({ bytes: bytes.subarray(from), offset: offset + from, isWhole: false });
    if (lines.length > 0) yield lines;
  }
}

/**
 * The bytes of a file in pieces of whole lines; what stands behind the last newline is a piece, too. Small ones: what is made of
 * a piece is then free before garbage collection moves it.
 */
export async function* readWholeLines(file: ReadFile): AsyncGenerator<Buffer> {
  for await (const { bytes, end, isLast } of readToNewlines(file, 0, SMALL_CHUNK_BYTES))
    yield isLast ? bytes : bytes.subarray(0, end);
}

export async function* splitLines(file: ReadFile, start = 0): AsyncGenerator<Line> {
  for await (const lines of splitPieces(file, start)) yield* lines;
}

/** The whole lines that contain a text; others are not split. A line may have begun before `start`. */
export async function* searchLines(file: ReadFile, text: Buffer, start: number): AsyncGenerator<Omit<Line, 'isWhole'>> {
  for await (const { bytes, offset, end } of readToNewlines(file, start)) {
    for (let at = bytes.indexOf(text); at !== -1 && at < end; ) {
      const from = bytes.lastIndexOf(NEWLINE, at) + 1;
      const next = bytes.indexOf(NEWLINE, at);
      yield { bytes: bytes.subarray(from, next), offset: offset + from };
      at = bytes.indexOf(text, next);
    }
  }
}

/** Pieces that begin at a line; `end`: behind the last newline, 0 if there is none. The rest is repeated in the next piece. */
async function* readToNewlines(
  file: ReadFile,
  start: number,
  chunkBytes = CHUNK_BYTES,
): AsyncGenerator<{ bytes: Buffer; offset: number; end: number; isLast: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let position = start; ; ) {
    // A line longer than a read: twice as much each time, since what is there is copied with each.
    const chunk = await file.read(position, Math.max(chunkBytes, rest.length));
    const offset = position - rest.length;
    position += chunk.length;
    if (chunk.length === 0) {
      if (rest.length > 0) yield { bytes: rest, offset, end: 0, isLast: true };
      return;
    }
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield { bytes, offset, end, isLast: false };
    rest = bytes.subarray(end);
  }
}

const WINDOW_BYTES = 1 << 20;

/** Reads of a file that come nearly in its order: one read of the disk serves many of them. */
export class ReadWindow {
  readonly #file: Pick<ReadFile, 'read'>;
  readonly #windowBytes: number;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(file: Pick<ReadFile, 'read'>, windowBytes = WINDOW_BYTES) {
    this.#file = file;
    this.#windowBytes = windowBytes;
  }

  /** Reads as from the file itself; what it gives is a view of what is kept. */
  async read(offset: number, length: number): Promise<Buffer> {
    if (offset < this.#start || offset + length > this.#start + this.#bytes.length) {
      // The next one may be for a place slightly before.
      this.#start = Math.max(0, offset - (this.#windowBytes >>> 2));
      this.#bytes = await this.#file.read(this.#start, Math.max(this.#windowBytes, offset - this.#start + length));
    }
    const from = offset - this.#start;
    return this.#bytes.subarray(from, from + length);
  }
}
