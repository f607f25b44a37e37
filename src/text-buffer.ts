import { InternalError } from './errors.js';

const FIRST_BYTES = 1 << 16;
const LF = 10;
const DIGIT_0 = 48;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Code units from here on take two bytes of UTF-8, and from there on three or four. */
const TWO_BYTES = 0x80;
const MORE_BYTES = 0x800;
/** Of each character of ASCII, 1 where JSON does not write it as it is. */
const NEEDS_ESCAPE = Uint8Array.from({ length: TWO_BYTES }, (_, unit) =>
  unit < SPACE || unit === QUOTE || unit === BACKSLASH ? 1 : 0,
);
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;

/** A longer line is copied sooner by the engine than byte by byte. */
const SHORT_LINE = 64;

/** Lines of UTF-8, each ended by LF, to be taken one after the other. */
export class Lines {
  readonly bytes: Uint8Array;
  /** Where the next one begins. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Where the next one ends. Throws InternalError where there is none. */
  get end(): number {
    const end = this.bytes.indexOf(LF, this.at);
    if (end === -1) throw new InternalError('unexpected', 'Cannot take a line: there are fewer than rows');
    return end;
  }

  /** The next line, without its LF; it stays the next. */
  peek(): string {
    return Buffer.from(this.bytes.subarray(this.at, this.end)).toString('utf8');
  }

  skip(): void {
    this.at = this.end + 1;
  }
}

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

  /** The same, sooner for a short text of ASCII. */
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

  /** As JSON writes it between quotes. */
  appendEscaped(text: string): void {
    const most = this.#length + text.length * MOST_BYTES_A_UNIT;
    if (most > this.#bytes.length) this.#grow(most);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit < TWO_BYTES && NEEDS_ESCAPE[unit] === 0) bytes[at++] = unit;
      else if (unit >= TWO_BYTES && unit < MORE_BYTES) {
        bytes[at++] = 0xc0 | (unit >> 6);
        bytes[at++] = 0x80 | (unit & 0x3f);
      } else {
        this.#length = at;
        this.append(JSON.stringify(text.slice(index)).slice(1, -1));
        return;
      }
    }
    this.#length = at;
  }

  /** As JSON writes them, without brackets. */
  appendStrings(strings: readonly string[]): void {
    for (let index = 0; index < strings.length; index += 1) {
      if (index > 0) this.#appendByte(COMMA);
      this.#appendByte(QUOTE);
      this.appendEscaped(strings[index] as string);
      this.#appendByte(QUOTE);
    }
  }

  #appendByte(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow(this.#length + 1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** The digits of an integer that is not negative. */
  appendInteger(integer: number): void {
    let digits = 1;
    for (let limit = 10; integer >= limit; limit *= 10) digits += 1;
    const end = this.#length + digits;
    if (end > this.#bytes.length) this.#grow(end);
    let rest = integer;
    for (let at = end - 1; at >= this.#length; at -= 1) {
      const next = Math.floor(rest / 10);
      this.#bytes[at] = DIGIT_0 + (rest - next * 10);
      rest = next;
    }
    this.#length = end;
  }

  /** Text that is UTF-8 already. */
  appendBytes(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
  }

  /** The next line, without its LF; it is then taken. */
  appendLine(lines: Lines): void {
    const { bytes, at, end } = lines;
    const needed = this.#length + end - at;
    if (needed > this.#bytes.length) this.#grow(needed);
    if (end - at > SHORT_LINE) this.#bytes.set(bytes.subarray(at, end), this.#length);
    else for (let from = at, to = this.#length; from < end; ) this.#bytes[to++] = bytes[from++] as number;
    this.#length = needed;
    lines.at = end + 1;
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
