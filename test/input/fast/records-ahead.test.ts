import { expect, it } from 'vitest';
import { nodeEnv } from '../../../src/command/env.js';
import { readRecordsAhead } from '../../../src/input/read-records.js';

it('is how the command reads: without it all would come out the same, and late', async () => {
  expect((await nodeEnv.loadReader()).readRecords).toBe(readRecordsAhead);
});
