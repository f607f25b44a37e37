/** Bytes of ASCII that readers and writers of rows look for. */
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const EQUALS = 0x3d;
export const OPENING = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING = 0x5d;
export const OPENING_BRACE = 0x7b;
export const DELETE = 0x7f;

const FIRST_BYTES = 1 << 12;
const DIGIT_0 = 48;
/** Code units from here on take two bytes of UTF-8 or more. */
const TWO_BYTES = 0x80;
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;
/** From this length on, the engine's copy is faster than a loop. */
const SHORT_RANGE = 32;

/**
 * Gathers text as UTF-8 until a write pays. Millions of concatenated short strings would be kept and moved by garbage
 * collection until then; here each is free at once.
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

  /** What has gathered, in memory of its own, which can be handed to another thread. */
  copy(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes);
  }

  clear(): void {
    this.#length = 0;
  }

  append(text: string): void {
    const needed = this.#length + text.length * MOST_BYTES_A_UNIT;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Appends as `append`, faster for a short ASCII text. */
  appendShort(text: string): void {
    if (this.#length + text.length > this.#bytes.length) this.#grow(this.#length + text.length);
    const bytes = this.#bytes;
    const start = this.#length;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit >= TWO_BYTES) {
        this.append(text);
        return;
      }
      bytes[start + index] = unit;
    }
    this.#length = start + text.length;
  }

  appendByte(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow(this.#length + 1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** The digits of an integer that is not negative, without a string of them. */
  appendInteger(integer: number): void {
    let digits = 1;
    for (let limit = 10; integer >= limit; limit *= 10) digits += 1;
    const start = this.#length;
    if (start + digits > this.#bytes.length) this.#grow(start + digits);
    const bytes = this.#bytes;
    let rest = integer;
    for (let at = start + digits - 1; at >= start; at -= 1) {
      const next = Math.floor(rest / 10);
      bytes[at] = DIGIT_0 + (rest - next * 10);
      rest = next;
    }
    this.#length = start + digits;
  }

  /** Text that is UTF-8 already, or what stands of it from `start` to `end`. */
  appendBytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const needed = this.#length + end - start;
    if (needed > this.#bytes.length) this.#grow(needed);
    const own = this.#bytes;
    if (end - start > SHORT_RANGE) own.set(bytes.subarray(start, end), this.#length);
    else for (let from = start, to = this.#length; from < end; ) own[to++] = bytes[from++] as number;
    this.#length = needed;
  }

  /** The gathered bytes with room for `count` more; those count once `endAt` is called. */
  reserve(count: number): Uint8Array {
    if (this.#length + count > this.#bytes.length) this.#grow(this.#length + count);
    return this.#bytes;
  }

  /** The text from `start` on, a byte of what has gathered. */
  textFrom(start: number): string {
    return this.#bytes.toString('utf8', start, this.#length);
  }

  /** Up to `length`, what was written is part of the text; what stands behind is dropped. */
  endAt(length: number): void {
    this.#length = length;
  }

  /** Passes the gathered bytes to `write`, and is empty afterwards. Nothing may be appended meanwhile. */
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
