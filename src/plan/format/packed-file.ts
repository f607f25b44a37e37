import { crc32, gzipSync, inflateRawSync } from 'node:zlib';
import type { ReadFile } from '../../storage/files.js';
import { planDamaged } from './sealed-json.js';

/**
 * A file of a plan, packed. A gzip file (RFC 1952), which `zcat` reads as any other. Each of its members has PIECE_BYTES of
 * the file, the last one what is left of it, and a head of 10 bytes. It is read from start to end; only what was passed can be read
 * again. A name ends in .gz only where the file is whole.
 */
export const PIECE_BYTES = 1 << 18;
/** Level 2 takes no longer than 1 for what plans hold, and less room. */
export const PACKING = { level: 2 } as const;
const HEAD = gzipSync('', PACKING).subarray(0, 10);
/** The end of a member: its CRC-32 and the length of the piece. */
const TAIL_BYTES = 8;
/** Where nothing can be deflated, a member is hardly longer than the piece. */
const MOST_MEMBER_BYTES = PIECE_BYTES + (1 << 10);

export function packedFile(path: string): string {
  return `${path}.gz`;
}

/**
 * A packed file as the file of so many bytes that was packed. Throws UserError 'plan-damaged', at the first piece that is damaged or
 * missing, and at the last one where more follows.
 */
export function openUnpacked(packed: ReadFile, path: string, bytes: number): ReadFile {
  const starts = [0];
  let last: { readonly index: number; readonly piece: Buffer } | undefined;

  const unpack = async (index: number): Promise<Buffer> => {
    if (last?.index === index) return last.piece;
    for (let at = Math.min(index, starts.length - 1); ; at += 1) {
      const start = starts[at] ?? 0;
      const [piece, length] = unpackMember(await packed.read(start, MOST_MEMBER_BYTES)) ?? [undefined, 0];
      const left = bytes - at * PIECE_BYTES;
      const isLast = left <= PIECE_BYTES;
      if (piece?.length !== Math.min(PIECE_BYTES, left) || (isLast && start + length !== packed.bytes))
        throw planDamaged(
          path,
          'it is damaged',
          'expected it as Volley packed it (if you packed it yourself, unpack it)',
        );
      starts[at + 1] = start + length;
      last = { index: at, piece };
      if (at === index) return piece;
    }
  };

  return {
    bytes,
    read: async (offset, length) => {
      const parts: Buffer[] = [];
      const end = Math.min(offset + length, bytes);
      for (let at = offset; at < end; ) {
        const piece = await unpack(Math.floor(at / PIECE_BYTES));
        const from = at % PIECE_BYTES;
        const part = piece.subarray(from, from + end - at);
        parts.push(part);
        at += part.length;
      }
      return Buffer.concat(parts);
    },
    close: () => packed.close(),
  };
}

/** The piece of the member that these bytes begin with, and how many of them are its own; undefined where it is damaged. */
function unpackMember(bytes: Buffer): [Buffer, number] | undefined {
  try {
    const options = { info: true, maxOutputLength: PIECE_BYTES } as const;
    const { buffer: piece, engine } = inflateRawSync(bytes.subarray(HEAD.length), options) as unknown as Inflated;
    const end = HEAD.length + engine.bytesWritten;
    const isWhole = bytes.readUInt32LE(end) === crc32(piece) && bytes.readUInt32LE(end + 4) === piece.length;
    return isWhole && bytes.subarray(0, HEAD.length).equals(HEAD) ? [piece, end + TAIL_BYTES] : undefined;
  } catch {
    return undefined;
  }
}

/** What `info` gives; its type does not say so. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
