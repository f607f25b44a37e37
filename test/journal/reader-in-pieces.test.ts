import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_JOURNAL, type PlacedLine, readJournalOn } from '../../src/journal/reader.js';
import { JOURNAL_PATH, memoryFiles, readBytes, someLines } from './builders.js';

test('a journal that is read in pieces gives what a read of the whole gives, wherever the pieces end', async () => {
  const lines = someLines(6);
  const bytes = Buffer.concat(lines);
  const whole = await readBytes(...lines);
  const files = memoryFiles({ [JOURNAL_PATH]: bytes });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length })), async (ends) => {
      const read: PlacedLine[] = [];
      let from = NO_JOURNAL;
      for (const toBytes of [...ends.sort((one, other) => one - other), undefined]) {
        from = await readJournalOn(files, JOURNAL_PATH, { from, toBytes, visit: (line) => read.push(line) });
        expect(from.goodBytes).toBeLessThanOrEqual(toBytes ?? bytes.length);
      }
      expect([read, from]).toEqual([whole.lines, whole.end]);
    }),
  );
});
