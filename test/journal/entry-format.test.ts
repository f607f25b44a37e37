import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeLine, encodeLine, type JournalEntry } from '../../src/journal/entry-format.js';
import { aClose, aLine, anIntent, anOpen, anOutcome, aSettlement } from './builders.js';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const anyCount = fc.nat(2 ** 40);
const anyPart = fc.string({ unit: fc.constantFrom('0', '1'), maxLength: 8 });
const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({ plan: anyText, host: anyText, pid: anyCount, at: anyCount }).map(anOpen),
  fc
    .record({
      request: anyCount,
      part: anyPart,
      line: fc.tuple(anyCount, anyCount),
      rows: fc.tuple(anyCount, anyCount),
    })
    .map(anIntent),
  fc
    .tuple(anyText, fc.constantFrom('again', 'split'))
    .map(([why, kind]) => anOutcome({ result: { kind: kind as 'again' | 'split', why } })),
  fc.tuple(fc.nat(20), fc.nat(20)).map(([rows, rejected]) => anOutcome({ result: aSettlement(rows, rejected) })),
  fc.record({ detail: anyText }).map(aClose),
);

/** The bytes without their newline. */
const lineBytes = () => aLine({ epoch: 2, seq: 17, durable: 12 }).subarray(0, -1);

describe('journal line', () => {
  test('is written in the form that the format names', () => {
    const body = '"epoch":2,"seq":17,"durable":12,"type":"close","at":5,"reason":"finished","detail":"é"}';
    const line = encodeLine({
      epoch: 2,
      seq: 17,
      durable: 12,
      entry: { type: 'close', at: 5, reason: 'finished', detail: 'é' },
    });
    expect(line.toString()).toBe(`{"crc":"${crc32(body).toString(16).padStart(8, '0')}",${body}\n`);
    expect(JSON.parse(line.toString())).toMatchObject({ epoch: 2, seq: 17, durable: 12, type: 'close' });
  });

  test('gives back the entry that was written, whatever its texts, and stays one line', () => {
    fc.assert(
      fc.property(anyEntry, anyCount, anyCount, anyCount, (entry, epoch, seq, durable) => {
        const bytes = encodeLine({ epoch, seq, durable, entry });
        expect(bytes.indexOf('\n')).toBe(bytes.length - 1);
        expect(decodeLine(bytes.subarray(0, -1))).toEqual({ epoch, seq, durable, entry });
      }),
    );
  });

  test.each([
    ['its beginning', 0, 8],
    ['its checksum', 8, 16],
    ['what stands between checksum and body', 16, 18],
    ['its body', 18, lineBytes().length],
  ])('is not taken for one when any one bit of %s was flipped', (_, from, to) => {
    for (let bit = from * 8; bit < to * 8; bit++) {
      const bytes = Buffer.from(lineBytes());
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeLine(bytes), `bit ${bit & 7} of byte ${bit >> 3}`).toBeUndefined();
    }
  });

  test('is not taken for one when it was cut at any byte, or when anything stands behind it', () => {
    const bytes = lineBytes();
    for (let length = 0; length < bytes.length; length++) expect(decodeLine(bytes.subarray(0, length))).toBeUndefined();
    for (let byte = 0; byte < 256; byte++) {
      expect(decodeLine(Buffer.concat([bytes, Buffer.from([byte])]))).toBeUndefined();
    }
  });

  test('is not found in arbitrary bytes, which raise no error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (noise, hasPrefix) => {
        const bytes = Buffer.concat([Buffer.from(hasPrefix ? '{"crc":"00000000",' : ''), noise]);
        expect(decodeLine(bytes)).toBeUndefined();
      }),
    );
  });
});
