const FIRST_BYTES = 1 << 16;
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;

/**
 * Gathers text as UTF-8 until it is worth a write. Millions of short strings that are glued together would all be kept, and
 * moved about by garbage collection, until then; here each one is free at once.
 */
export class TextBuffer {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** What has gathered; a view, to be read before anything is appended. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  append(text: string): void {
    const needed = this.#length + text.length * MOST_BYTES_A_UNIT;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Text that is UTF-8 already. */
  appendBytes(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
  }

  /** Hands what has gathered to `write`, and is empty when that has ended. Nothing may be appended meanwhile. */
  async flush(write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    if (this.#length === 0) return;
    await write(this.bytes);
    this.clear();
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
