import { expect, test } from 'vitest';
import { readRecords } from '../../../src/input/read-records.js';
import { aCsvOf, anSmsStep, makeAPlan, NO_OWNERS } from '../a-plan.js';

test('planning that is interrupted while it looks for rows that come back ends at the next block of the file', async () => {
  const interruption = new AbortController();
  let blocks = 0;
  const planning = makeAPlan({
    files: { 'people.csv': aCsvOf(20_000) },
    job: { steps: [anSmsStep()] },
    owners: { ...NO_OWNERS, findDigest: () => 'd' },
    signal: interruption.signal,
    reader: {
      readRecords: (file, input) => {
        const reader = readRecords(file, input);
        const read = reader.blocks.bind(reader);
        reader.blocks = async function* () {
          for await (const block of read()) {
            blocks += 1;
            interruption.abort();
            // As a file that rows come back from.
            yield block;
          }
        };
        Object.defineProperty(reader, 'ownColumns', { value: [['_rowId']] });
        return reader;
      },
    },
  });
  await expect(planning).rejects.toMatchObject({ code: 'interrupted' });
  expect(blocks).toBe(1);
});
