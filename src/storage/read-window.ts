import type { ReadFile } from './files.js';

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
