import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DigestedFile } from '../../../src/plan/format/step-writer.js';

function aFile(write: (bytes: Uint8Array) => Promise<void>): DigestedFile {
  const ended = async () => {};
  return new DigestedFile({ write: (chunk) => write(Buffer.from(chunk as Uint8Array)), finish: ended, discard: ended });
}

it('text is written whole and in order, one write at a time, while more of it gathers; the digest is of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.nat(40), async (pieces, atLeast) => {
      let [written, isWriting] = ['', false];
      const file = aFile(async (bytes) => {
        expect(isWriting).toBe(false);
        isWriting = true;
        await new Promise(setImmediate);
        written += Buffer.from(bytes).toString('utf8');
        isWriting = false;
      });
      for (const piece of pieces) {
        file.text.append(piece);
        await file.flush(atLeast);
      }
      await file.finish();
      const whole = Buffer.from(pieces.map((piece) => Buffer.from(piece).toString('utf8')).join(''));
      expect(written).toBe(whole.toString('utf8'));
      const sha256 = createHash('sha256').update(whole).digest('hex');
      expect(file.digest).toEqual({ bytes: whole.length, sha256 });
    }),
  );
});

it('a flush does not wait for its own write', async () => {
  let letGo = () => {};
  const file = aFile(() => new Promise<void>((resolve) => (letGo = resolve)));
  file.text.append('one');
  await file.flush(1);
  file.text.append('two');
  const second = file.flush(1);
  letGo();
  await second;
  letGo();
  await file.discard();
});

it('a failed write is thrown by the next flush, and by the end', async () => {
  const file = aFile(() => Promise.reject(new Error('no space')));
  file.text.append('one');
  await file.flush(1);
  file.text.append('two');
  await expect(file.flush(1)).rejects.toThrow('no space');
  await expect(file.finish()).rejects.toThrow('no space');
  await file.discard();
});
