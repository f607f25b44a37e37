import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeySet } from '../../src/listen/key-set.js';

test('a set of keys is like a set of texts', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 })), fc.array(fc.string({ maxLength: 2 })), (added, asked) => {
      const keys = new KeySet();
      for (const id of added) keys.add(id);
      const texts = new Set(added);
      for (const id of [...added, ...asked]) expect(keys.has(id)).toBe(texts.has(id));
    }),
  );
});

test('a set of keys takes 32 bytes a key at most, however long they are', () => {
  const keys = new KeySet();
  const long = 'x'.repeat(500);
  for (let index = 0; index < 10_000; index++) {
    keys.add(`${long}${index}`);
    if (index > 1000 && keys.bytes > 32 * (index + 1)) expect.fail(`${keys.bytes} bytes for ${index + 1} keys`);
  }
});
