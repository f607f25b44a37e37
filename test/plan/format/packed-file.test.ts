import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openUnpacked, PACKING, PIECE_BYTES } from '../../../src/plan/format/planned-files.js';
import { createRandom } from '../../../src/sandbox/random.js';
import type { ReadFile } from '../../../src/storage/files.js';
import { runsOf } from '../../one-in.js';

function pack(plain: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < plain.length; at += PIECE_BYTES)
    pieces.push(gzipSync(plain.subarray(at, at + PIECE_BYTES), PACKING));
  return Buffer.concat(pieces);
}

function aFileOf(bytes: Buffer): ReadFile {
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  return { bytes: bytes.length, read, close: async () => {} };
}

/** Text that packs well, with some that does not. */
function aText(bytes: number, seed: number): Buffer {
  const random = createRandom(seed);
  const lines: string[] = [];
  for (let length = 0; length < bytes; length += lines.at(-1)!.length) lines.push(`["p",0,[1,"+65${random()}"]]\n`);
  return Buffer.from(lines.join('').slice(0, bytes));
}

const open = (packed: Buffer, bytes: number) => openUnpacked(aFileOf(packed), '/run/1-sms.rows.ndjson.gz', bytes);
const readAll = (packed: Buffer, bytes: number) => open(packed, bytes).read(0, Number.MAX_SAFE_INTEGER);
const refusal = expect.objectContaining({
  code: 'plan-damaged',
  message: expect.stringContaining('Cannot use /run/1-sms.rows.ndjson.gz: '),
});

/** Around the ends of pieces. */
const lengths = fc
  .record({ pieces: fc.integer({ min: 0, max: 3 }), more: fc.integer({ min: -2, max: 2 }) })
  .map(({ pieces, more }) => Math.max(0, pieces * PIECE_BYTES + more));

describe('a packed file', () => {
  it('is read as it was, from any place', async () => {
    const places = fc.array(
      fc.record({ at: fc.nat({ max: 3 * PIECE_BYTES }), bytes: fc.nat({ max: 2 * PIECE_BYTES }) }),
    );
    await fc.assert(
      fc.asyncProperty(lengths, places, fc.nat(), async (length, chosen, seed) => {
        const plain = aText(length, seed);
        const file = open(pack(plain), length);
        expect(file.bytes).toBe(length);
        for (const { at, bytes } of [{ at: 0, bytes: length + 1 }, ...chosen]) {
          expect((await file.read(at, bytes)).equals(plain.subarray(at, at + bytes))).toBe(true);
        }
      }),
      { numRuns: runsOf(40) },
    );
  });

  it('is read by gzip', () => {
    const plain = aText(2 * PIECE_BYTES + 77, 1);
    expect(execFileSync('gzip', ['-dc'], { input: pack(plain), maxBuffer: 1e9 }).equals(plain)).toBe(true);
  });

  it('is refused with any one bit changed, or gives what was packed', async () => {
    const plain = aText(700, 2);
    const packed = pack(plain);
    let refused = 0;
    for (let bit = 0; bit < packed.length * 8; bit++) {
      const damaged = Buffer.from(packed);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const read = await readAll(damaged, plain.length).catch((error: unknown) => error);
      if (read instanceof Buffer) expect(read.equals(plain), `bit ${bit}`).toBe(true);
      else expect(read).toEqual(refusal);
      if (!(read instanceof Buffer)) refused += 1;
    }
    // The deflated bytes end with bits that say nothing.
    expect(refused).toBeGreaterThan(packed.length * 8 - 8);
  });

  it('is refused if it is cut off anywhere, or something follows', async () => {
    const bytes = PIECE_BYTES + 500;
    const packed = pack(aText(bytes, 3));
    const last = pack(aText(500, 3)).length;
    for (let length = packed.length - last - 50; length < packed.length; length++)
      await expect(readAll(packed.subarray(0, length), bytes), `${length}`).rejects.toEqual(refusal);
    await expect(readAll(Buffer.concat([packed, Buffer.from('x')]), bytes)).rejects.toEqual(refusal);
    await expect(readAll(packed, bytes - 1)).rejects.toEqual(refusal);
    await expect(readAll(packed, bytes + 1)).rejects.toEqual(refusal);
  });

  it('is refused if another program packed it, with what to do', async () => {
    await expect(readAll(gzipSync(aText(PIECE_BYTES + 9, 4)), PIECE_BYTES + 9)).rejects.toThrow(
      'Cannot use /run/1-sms.rows.ndjson.gz: it is damaged, expected it as Volley packed it (if you packed it yourself, unpack it)',
    );
  });
});
