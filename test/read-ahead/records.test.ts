import { expect, it } from 'vitest';
import { thisWorld } from '../../src/commands/world.js';
import { readRecordsAhead } from '../../src/read-ahead/records.js';

it('is how the command reads: without it all would come out the same, and late', async () => {
  expect((await thisWorld.loadReader()).readRecords).toBe(readRecordsAhead);
});
