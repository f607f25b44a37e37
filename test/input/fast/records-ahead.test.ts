import { expect, it } from 'vitest';
import { nodeRuntime } from '../../../src/command/runtime.js';
import { readRecordsAhead } from '../../../src/input/fast/records-ahead.js';

it('is how the command reads: without it all would come out the same, and late', async () => {
  expect((await nodeRuntime.loadReader()).readRecords).toBe(readRecordsAhead);
});
