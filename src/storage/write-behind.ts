import { TextBuffer } from '../domain/bytes/text-buffer.js';

/** Buffers text for a file, and writes one buffer while the next fills. The next call throws a failed write. */
export class WriteBehind {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #gathered = new TextBuffer();
  #spare = new TextBuffer();
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** The buffer to append to, until the next `flush` or `end`. */
  get text(): TextBuffer {
    return this.#gathered;
  }

  /** Starts a write once the buffer is large enough; waits for the write before. */
  async flush(atLeast: number): Promise<void> {
    if (this.#gathered.length < atLeast) return;
    await this.#writing;
    const full = this.#gathered;
    this.#gathered = this.#spare;
    this.#spare = full;
    this.#writing = full.flush(this.#write);
    // Handled where it is awaited.
    this.#writing.catch(() => {});
  }

  /** Writes the rest; no write is pending afterwards. */
  async end(): Promise<void> {
    await this.flush(0);
    await this.#writing;
  }

  /** Waits until no write is pending, ignoring failures. */
  async abandon(): Promise<void> {
    await this.#writing.catch(() => {});
  }
}
