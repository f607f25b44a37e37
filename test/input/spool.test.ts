import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestInput, spoolInput } from '../../src/input/text/byte-source.js';
import { aDirectory, refusalOf } from './builders.js';

const directory = aDirectory();

async function* aStream(...pieces: (string | Error)[]) {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

describe('spoolInput', () => {
  it('writes the stream whole, readable by its owner alone', async () => {
    const path = join(directory, 'whole');
    await spoolInput(aStream('mobile\n', '+6591234567\n'), path);
    expect(readFileSync(path, 'utf8')).toBe('mobile\n+6591234567\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('refuses a stream that breaks off, and leaves nothing behind', async () => {
    const path = join(directory, 'broken');
    const refusal = await refusalOf(spoolInput(aStream('mobile\n', new Error('EPIPE')), path));
    expect(refusal).toEqual(['standard input: it broke off before its end, expected all of it']);
    expect(readdirSync(directory).filter((name) => name.startsWith('broken'))).toEqual([]);
  });
});

describe('digestInput', () => {
  it('is the SHA-256 and the length of the bytes on disk', async () => {
    const path = join(directory, 'digested');
    await spoolInput(aStream('abc'), path);
    const expected = { sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', bytes: 3 };
    expect(await digestInput(path)).toEqual(expected);
  });

  it('refuses a file that is not there', async () => {
    expect(await refusalOf(digestInput(join(directory, 'gone')))).toEqual([
      'gone: there is no such file, expected a file that can be read',
    ]);
  });
});
