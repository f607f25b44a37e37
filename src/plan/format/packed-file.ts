import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { PROGRAM } from '../../domain/program.js';
import type { ReadFile } from '../../storage/files.js';
import { planDamaged } from './plan-damaged.js';

export const PACKED_FORMAT: number = PROGRAM.formats.packed;

/**
 * A file of a plan, packed: format 1. A gzip file (RFC 1952), which `zcat` reads as any other. Each of its members has PIECE_BYTES of
 * the file, the last one what is left of it, and says in an extra field how long it is itself, so that any part can be read without
 * those before it:
 *
 *   1f 8b 08 04 00 00 00 00 00 ff   gzip: deflated, with an extra field, no time, no name
 *   08 00                           length of the extra fields
 *   56 01 04 00                     'V', the format, length of what follows
 *   n n n n                         bytes of the member, from its 1f to the end
 *   …                               the deflated piece, its CRC-32, its length
 *
 * Numbers begin with their lowest byte. A name ends in .gz only where the file is whole.
 */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 8, 0, 0x56, PACKED_FORMAT, 4, 0]);
const BODY_AT = HEAD.length + 4;
const TAIL_BYTES = 8;

export const PIECE_BYTES = 1 << 18;
/** Level 2 takes no longer than 1 for what plans hold, and less room. */
const LEVEL = 2;

export function packedFile(path: string): string {
  return `${path}.gz`;
}

/** A member of a packed file. */
export function packPiece(piece: Buffer): Buffer {
  const body = deflateRawSync(piece, { level: LEVEL });
  const member = Buffer.alloc(BODY_AT + body.length + TAIL_BYTES);
  HEAD.copy(member);
  member.writeUInt32LE(member.length, HEAD.length);
  body.copy(member, BODY_AT);
  member.writeUInt32LE(crc32(piece), BODY_AT + body.length);
  member.writeUInt32LE(piece.length, BODY_AT + body.length + 4);
  return member;
}

/** A packed file as the file that was packed. Throws UserError 'plan-damaged' where it is no such file, and at the first piece that is damaged. */
export async function openUnpacked(packed: ReadFile, path: string): Promise<ReadFile> {
  const starts = await findMembers(packed, path);
  const bytes = await countBytes(packed, starts);
  let last: { readonly index: number; readonly piece: Buffer } | undefined;

  const unpack = async (index: number): Promise<Buffer> => {
    if (last?.index === index) return last.piece;
    const [start = 0, end = 0] = starts.slice(index);
    const piece = unpackPiece(await packed.read(start, end - start));
    if (piece?.length !== Math.min(PIECE_BYTES, bytes - index * PIECE_BYTES)) throw damaged(path);
    last = { index, piece };
    return piece;
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

/** Where members begin, and where the last one ends. */
async function findMembers(packed: ReadFile, path: string): Promise<number[]> {
  const starts = [0];
  for (let at = 0; at < packed.bytes; starts.push(at)) {
    const head = await packed.read(at, BODY_AT);
    if (head.length < BODY_AT || !head.subarray(0, HEAD.length).equals(HEAD)) throw damaged(path);
    const length = head.readUInt32LE(HEAD.length);
    at += length;
    if (length <= BODY_AT + TAIL_BYTES || at > packed.bytes) throw damaged(path);
  }
  return starts;
}

async function countBytes(packed: ReadFile, starts: readonly number[]): Promise<number> {
  const members = starts.length - 1;
  if (members === 0) return 0;
  return (members - 1) * PIECE_BYTES + (await packed.read(packed.bytes - 4, 4)).readUInt32LE();
}

/** Undefined for a damaged member. */
function unpackPiece(member: Buffer): Buffer | undefined {
  try {
    const piece = inflateRawSync(member.subarray(BODY_AT, -TAIL_BYTES), { maxOutputLength: PIECE_BYTES });
    return crc32(piece) === member.readUInt32LE(member.length - TAIL_BYTES) ? piece : undefined;
  } catch {
    return undefined;
  }
}

function damaged(path: string) {
  return planDamaged(path, 'it is damaged', 'expected it as Volley packed it (if you packed it yourself, unpack it)');
}
