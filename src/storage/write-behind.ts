import { TextBuffer } from '../domain/bytes/text-buffer.js';

/** Gathers text for a file, and writes what has gathered while more of it gathers. A failed write is thrown by the next call. */
export class WriteBehind {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #gathered = new TextBuffer();
  #spare = new TextBuffer();
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Where text is to be appended, until the next call of `flush` or `end`. */
  get text(): TextBuffer {
    return this.#gathered;
  }

  /** Begins to write once so many bytes have gathered; waits for the write before. */
  async flush(atLeast: number): Promise<void> {
    if (this.#gathered.length < atLeast) return;
    await this.#writing;
    const full = this.#gathered;
    this.#gathered = this.#spare;
    this.#spare = full;
    this.#writing = full.flush(this.#write);
    // It is heard of by whoever awaits it.
    this.#writing.catch(() => {});
  }

  /** Writes all that is left; nothing is under way when it has ended. */
  async end(): Promise<void> {
    await this.flush(0);
    await this.#writing;
  }

  /** Waits until nothing is under way, whatever became of it. */
  async abandon(): Promise<void> {
    await this.#writing.catch(() => {});
  }
}
