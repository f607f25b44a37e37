import { expect, it } from 'vitest';
import { thisWorld } from '../../../src/commands/support/world.js';
import { readRecordsAhead } from '../../../src/input/fast/records-ahead.js';

it('is how the command reads: without it all would come out the same, and late', async () => {
  expect((await thisWorld.loadReader()).readRecords).toBe(readRecordsAhead);
});
