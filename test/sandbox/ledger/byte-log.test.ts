import fc from 'fast-check';
import { memfs } from 'memfs';
import { expect, test } from 'vitest';
import { type ByteLog, createMemoryLog, openFileLog, readLines } from '../../../src/sandbox/ledger/byte-log.js';
import { createFiles, type RawFiles } from '../../../src/storage/files.js';

async function linesOf(log: ByteLog): Promise<string[]> {
  const lines: string[] = [];
  for await (const { line } of readLines(log)) lines.push(line.toString());
  return lines;
}

test('memory log reads back any piece of what was appended, over blocks of 1 MiB', async () => {
  const piece = fc.integer({ min: 0, max: 700_000 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 6 }),
      fc.nat(3_000_000),
      fc.nat(2_000_000),
      async (sizes, offset, length) => {
        const log = createMemoryLog();
        const chunks = sizes.map((size, place) => Buffer.alloc(size, `${place}abcdefghij`));
        for (const chunk of chunks) await log.append(chunk);
        const whole = Buffer.concat(chunks);
        expect(log.bytes).toBe(whole.length);
        expect((await log.read(offset, length)).equals(whole.subarray(offset, offset + length))).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test.each([
  ['memory', async () => createMemoryLog()],
  ['file', () => openFileLog(createFiles(memfs({ '/d': null }).fs.promises as unknown as RawFiles), '/d/data')],
])('%s log gives whole lines of any length, forgets what is cut off, and resumes there', async (_, open) => {
  const log = await open();
  const long = 'x'.repeat(2_500_000);
  await log.append(Buffer.from(`one\n${long}\n\ntwo\nto`));
  expect(await linesOf(log)).toEqual(['one', long, '', 'two']);
  await log.truncate(4);
  expect(log.bytes).toBe(4);
  await log.append(Buffer.from('three\n'));
  expect(await linesOf(log)).toEqual(['one', 'three']);
  await log.close();
});

test('reading ends at what stood in the log when it began', async () => {
  const log = createMemoryLog();
  await log.append(Buffer.from('one\ntwo\n'));
  const lines = readLines(log);
  expect((await lines.next()).value?.line.toString()).toBe('one');
  await log.append(Buffer.from('three\n'));
  expect((await lines.next()).value?.line.toString()).toBe('two');
  expect((await lines.next()).done).toBe(true);
});

test('reading a log that is cleared meanwhile ends', async () => {
  const log = createMemoryLog();
  for (let count = 0; count < 3; count++) await log.append(Buffer.alloc(1 << 20, 'line\n'));
  const lines = readLines(log);
  await lines.next();
  await log.truncate(0);
  let count = 0;
  for await (const _ of lines) count++;
  expect(count).toBeLessThan((1 << 20) / 5 + 1);
});
