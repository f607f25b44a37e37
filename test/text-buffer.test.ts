import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextBuffer } from '../src/text-buffer.js';

async function take(buffer: TextBuffer): Promise<string> {
  let text = '';
  await buffer.flush(async (bytes) => {
    text += Buffer.from(bytes).toString('utf8');
  });
  return text;
}

it('a text buffer gives back what was appended, once, whatever its characters and its length', async () => {
  const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('€'.repeat(40_000)));
  await fc.assert(
    fc.asyncProperty(fc.array(piece), fc.array(piece), async (first, second) => {
      const buffer = new TextBuffer();
      for (const text of first) buffer.append(text);
      expect(buffer.length).toBe(Buffer.byteLength(first.join('')));
      expect(await take(buffer)).toBe(first.join(''));
      for (const text of second) buffer.append(text);
      expect(await take(buffer)).toBe(second.join(''));
      expect(await take(buffer)).toBe('');
    }),
  );
});
