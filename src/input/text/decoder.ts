import { isUtf8 } from 'node:buffer';
import type { Encoding } from './encoding.js';

/** Turns bytes into UTF-8, piece by piece. Undefined: these bytes are no text in the encoding. */
export interface Decoder {
  decode(piece: Buffer): Buffer | undefined;
  /** What is left at the end; undefined when a character is cut off. */
  finish(): Buffer | undefined;
}

const NOTHING = Buffer.alloc(0);

/** A strict decoder: it replaces and omits nothing. A NUL is an error in every encoding. */
export async function createDecoder({ name }: Encoding): Promise<Decoder> {
  if (name === 'utf-8') return createUtf8Decoder();
  if (name.startsWith('utf-16')) return createTextDecoder(TextDecoder, name, NO_UTF16_TEXT);
  // Node's own decoders show private-use characters, or others, for thousands of bytes of the older encodings.
  const library = await import('@exodus/bytes/encoding.js');
  return createTextDecoder(library.TextDecoder, name, NO_LEGACY_TEXT);
}

export function createUtf8Decoder(): Decoder {
  let carry = NOTHING;
  return {
    decode: (piece) => {
      const bytes = carry.length === 0 ? piece : Buffer.concat([carry, piece]);
      const whole = bytes.subarray(0, bytes.length - countCutOff(bytes));
      if (whole.includes(0) || !isUtf8(whole)) return undefined;
      carry = Buffer.from(bytes.subarray(whole.length));
      return whole;
    },
    finish: () => (carry.length === 0 ? NOTHING : undefined),
  };
}

/** Bytes at the end that begin a UTF-8 character which the next piece may complete: 0 to 3. */
function countCutOff(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = byte >= 0x80 && byte < 0xc0;
    if (!isContinuation) return lengthByLead(byte) > back ? back : 0;
  }
  return 0;
}

/** Bytes of the character that a byte begins; 1 for one that begins none. */
function lengthByLead(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

const NO_UTF16_TEXT = /\0/;
/** What legacy encodings map meaningless bytes to: controls, or private-use characters of font vendors. */
const NO_LEGACY_TEXT = /[\0\u0080-\u009f\ue000-\uf8ff]/;

function createTextDecoder(Library: typeof TextDecoder, name: string, noText: RegExp): Decoder {
  const decoder = new Library(name, { fatal: true, ignoreBOM: true });
  const decode = (piece: Buffer, stream: boolean) => {
    let text: string;
    try {
      text = decoder.decode(piece, { stream });
    } catch {
      return undefined;
    }
    return noText.test(text) ? undefined : Buffer.from(text);
  };
  return { decode: (piece) => decode(piece, true), finish: () => decode(NOTHING, false) };
}
