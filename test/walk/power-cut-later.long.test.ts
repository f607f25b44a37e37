import { expect, test } from 'vitest';
import { stepsOf } from '../one-in.js';
import { Walk } from './walk.js';
import { HOUR } from './walk-service.js';

/** One operation in two with each commit: few of them matter. */
const { first, step } = stepsOf(2);
/** Of its own: where bugs are planted, every operation is tried, and tests may take less. */
const EVERY_OPERATION_MS = 300_000;

test(
  'a run that a power cut ends at any operation on the disk, hours behind the last entry of the job, is resumed without a question',
  async () => {
    let deaths = 0;
    for (let after = first; ; after += step) {
      const walk = new Walk(3);
      walk.world.service.isFlawless = true;
      await walk.run();
      const [run = ''] = walk.runs.names;
      walk.world.pass(2 * HOUR);
      await walk.feed(run, 3);
      const commands = walk.counts.deaths;
      await walk.run({ kind: 'power', after });
      if (walk.counts.deaths === commands) break;
      deaths += 1;

      // What was written last is lost, in part or whole, and the file keeps its time. No one has to say that it is no copy:
      // a refusal to open would end the walk. Twice, as the second finds what the first left.
      for (const _again of ['at once', 'once more']) {
        walk.world.pass(HOUR);
        await walk.run();
      }
    }
    expect(deaths * step).toBeGreaterThan(100);
  },
  EVERY_OPERATION_MS,
);
