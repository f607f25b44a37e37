/** The common forms of numbers, with blanks on both sides; all others are left to the library. */
const MAX_CHARACTERS = 40;
/** Without the plus. */
const MIN_CHARACTERS = 5;
/** Fewer characters, the plus included, are reported as no number at all. */
const FEWEST_WRITTEN = 4;

const SPACE = 0x20;
const APOSTROPHE = 0x27;
const PLUS = 0x2b;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
/** The two bytes of a no-break space. */
const NO_BREAK = [0xc2, 0xa0] as const;
const PUNCTUATION: readonly number[] = Array.from(' ().-', (character) => character.charCodeAt(0));
/** Of each byte: the value of a digit, or one of those below. */
const NO_NUMBER = 255;
const IGNORED_COLUMNS = 254;
const MEANINGS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= DIGIT_0 && byte < DIGIT_0 + 10) return byte - DIGIT_0;
  return PUNCTUATION.includes(byte) ? IGNORED_COLUMNS : NO_NUMBER;
});

/** The plus and digits of a number that has nothing else but plain punctuation. */
export class NumberScan {
  hasPlus = false;
  /** Values, not characters; `length` of them. */
  readonly digits = new Uint8Array(MAX_CHARACTERS);
  length = 0;
  readonly #text = Buffer.alloc(MAX_CHARACTERS * 4);

  /** Whether the text has this form. False also for too few digits, and for `6591234567.0`. */
  readText(text: string): boolean {
    if (text.length > MAX_CHARACTERS + 1) return false;
    return this.readBytes(this.#text, 0, this.#text.write(text));
  }

  /** The same, of UTF-8 from `from` to `to`. */
  readBytes(bytes: Uint8Array, from: number, to: number): boolean {
    let start = from;
    let end = to;
    for (let blank = blankAt(bytes, start, end); blank > 0; blank = blankAt(bytes, start, end)) start += blank;
    for (let blank = blankBefore(bytes, end, start); blank > 0; blank = blankBefore(bytes, end, start)) end -= blank;
    if (bytes[start] === APOSTROPHE && start < end) {
      start += 1;
      for (let blank = blankAt(bytes, start, end); blank > 0; blank = blankAt(bytes, start, end)) start += blank;
    }
    this.hasPlus = bytes[start] === PLUS && start < end;
    if (this.hasPlus) start += 1;
    this.length = 0;
    let characters = 0;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      const meaning = MEANINGS[byte] as number;
      characters += 1;
      if (characters > MAX_CHARACTERS) return false;
      if (meaning < IGNORED_COLUMNS) this.digits[this.length++] = meaning;
      else if (meaning === NO_NUMBER) {
        const blank = blankAt(bytes, at, end);
        if (blank === 0) return false;
        at += blank - 1;
      }
    }
    const isEnough = characters >= MIN_CHARACTERS && this.length + Number(this.hasPlus) >= FEWEST_WRITTEN;
    return isEnough && !endsInZeros(bytes, start, end);
  }
}

/** Bytes of the blank that begins at `at`; 0 if there is none. */
function blankAt(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return 0;
  return bytes[at] === SPACE ? 1 : noBreakAt(bytes, at, end);
}

/** The same of one that ends before `end`. */
function blankBefore(bytes: Uint8Array, end: number, start: number): number {
  if (end <= start) return 0;
  return bytes[end - 1] === SPACE ? 1 : noBreakAt(bytes, Math.max(start, end - NO_BREAK.length), end);
}

function noBreakAt(bytes: Uint8Array, at: number, end: number): number {
  const isThere = end - at >= NO_BREAK.length && bytes[at] === NO_BREAK[0] && bytes[at + 1] === NO_BREAK[1];
  return isThere ? NO_BREAK.length : 0;
}

/** `.0` or `.00`. */
function endsInZeros(bytes: Uint8Array, start: number, end: number): boolean {
  let dot = end - 1;
  while (dot > start && end - dot <= 2 && bytes[dot] === DIGIT_0) dot -= 1;
  return dot < end - 1 && dot >= start && bytes[dot] === DOT;
}
