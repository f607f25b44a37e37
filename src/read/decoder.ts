import { isUtf8 } from 'node:buffer';
import type { Encoding } from './encoding.js';

/** Turns bytes into UTF-8, piece by piece. Undefined: these bytes are no text in the encoding. */
export interface Decoder {
  decode(piece: Buffer): Buffer | undefined;
  /** What is left at the end; undefined when a character is cut off. */
  finish(): Buffer | undefined;
}

const NOTHING = Buffer.alloc(0);

/** A strict decoder: nothing is replaced, nothing is left out. A NUL is no text in any encoding. */
export function createDecoder(encoding: Encoding): Decoder {
  if (encoding.name === 'utf-8') return createUtf8Decoder();
  if (encoding.name === 'windows-1252') return createWindows1252Decoder();
  return createForeignDecoder(encoding.name);
}

function createUtf8Decoder(): Decoder {
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

/** 0x80 to 0x9F as WHATWG has them; a blank where the code page has no character. Node 20 reads these bytes as Latin-1. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

function createWindows1252Decoder(): Decoder {
  return {
    decode: (piece) => {
      const text = piece
        .toString('latin1')
        .replace(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80]?.trim() || '\0');
      return text.includes('\0') ? undefined : Buffer.from(text);
    },
    finish: () => NOTHING,
  };
}

/** What the platform's decoders make of bytes that mean nothing in a code page, where they do not refuse them. */
const MEANINGLESS = /[\0\u0080-\u009f\uf8c1-\uf8ff\ufffd]/;

function createForeignDecoder(name: string): Decoder {
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  const isUtf16 = name.startsWith('utf-16');
  const decode = (piece: Buffer, stream: boolean) => {
    let text: string;
    try {
      text = decoder.decode(piece, { stream });
    } catch {
      return undefined;
    }
    const isText = isUtf16 ? !text.includes('\0') : !MEANINGLESS.test(text);
    return isText ? Buffer.from(text) : undefined;
  };
  return { decode: (piece) => decode(piece, true), finish: () => decode(NOTHING, false) };
}
