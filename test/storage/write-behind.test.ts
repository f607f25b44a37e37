import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WriteBehind } from '../../src/storage/write-behind.js';

it('text is written whole and in order, one write at a time, while more of it gathers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.nat(40), async (pieces, atLeast) => {
      let [written, isWriting] = ['', false];
      const behind = new WriteBehind(async (bytes) => {
        expect(isWriting).toBe(false);
        isWriting = true;
        await new Promise(setImmediate);
        written += Buffer.from(bytes).toString('utf8');
        isWriting = false;
      });
      for (const piece of pieces) {
        behind.text.append(piece);
        await behind.flush(atLeast);
      }
      await behind.end();
      expect(written).toBe(pieces.map((piece) => Buffer.from(piece).toString('utf8')).join(''));
    }),
  );
});

it('a flush does not wait for its own write', async () => {
  let letGo = () => {};
  const behind = new WriteBehind(() => new Promise((resolve) => (letGo = resolve)));
  behind.text.append('one');
  await behind.flush(1);
  behind.text.append('two');
  const second = behind.flush(1);
  letGo();
  await second;
  letGo();
  await behind.abandon();
});

it('a failed write is thrown by the next flush, and by the end', async () => {
  const behind = new WriteBehind(() => Promise.reject(new Error('no space')));
  behind.text.append('one');
  await behind.flush(1);
  behind.text.append('two');
  await expect(behind.flush(1)).rejects.toThrow('no space');
  await expect(behind.end()).rejects.toThrow('no space');
  await behind.abandon();
});
