import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextBuffer } from '../../../src/domain/bytes/text-buffer.js';
import { runsOf } from '../../one-in.js';

const RUNS = { numRuns: runsOf(100) };

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
    RUNS,
  );
});

it.each([
  ['as it is', (buffer: TextBuffer, text: string) => buffer.appendShort(text), (text: string) => text],
  ['as bytes among others', appendAmongOthers, (text: string) => text],
  ['byte by byte', writeBehind, (text: string) => text],
])('a text buffer takes a text %s, whatever its characters and its length', async (_how, append, expected) => {
  const unit = fc.constantFrom(
    'a',
    'z',
    ' ',
    '"',
    '\\',
    '\n',
    '\u0000',
    '\u007f',
    'é',
    '\u07ff',
    '\u0800',
    '€',
    '👩',
    '\ud83d',
  );
  const text = fc.oneof(
    fc.string({ unit }),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constant('é'.repeat(70_000)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (texts) => {
      const buffer = new TextBuffer();
      for (const each of texts) append(buffer, each);
      // Each by itself: halves of a character that two texts end and begin with do not become one.
      const bytes = Buffer.concat(texts.map((each) => Buffer.from(expected(each))));
      expect(await take(buffer)).toBe(bytes.toString('utf8'));
    }),
    RUNS,
  );
});

function appendAmongOthers(buffer: TextBuffer, text: string): void {
  const bytes = Buffer.from(`before${text}behind`);
  buffer.appendBytes(bytes, 'before'.length, bytes.length - 'behind'.length);
}

/** As a writer that has room reserved for it. */
function writeBehind(buffer: TextBuffer, text: string): void {
  const written = Buffer.from(text);
  const bytes = buffer.reserve(written.length);
  for (const [at, byte] of written.entries()) bytes[buffer.length + at] = byte;
  buffer.endAt(buffer.length + written.length);
}

it('a text buffer writes integers as JavaScript does', async () => {
  const integer = fc.oneof(fc.constantFrom(0, 9, 10, 99, 100, Number.MAX_SAFE_INTEGER), fc.maxSafeNat());
  await fc.assert(
    fc.asyncProperty(fc.array(integer, { maxLength: 9000 }), async (integers) => {
      const buffer = new TextBuffer();
      for (const each of integers) buffer.appendInteger(each);
      expect(await take(buffer)).toBe(integers.join(''));
    }),
    RUNS,
  );
});
