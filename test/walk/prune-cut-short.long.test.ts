import { expect, test } from 'vitest';
import { stepsOf } from '../one-in.js';
import { Walk } from './walk.js';
import { HOUR } from './walk-service.js';

/** One operation in five with each commit. */
const { first, step } = stepsOf(5);

/** A run that is finished, with nothing in doubt; `feed` gives its rejections back as input, as they were before it was pruned. */
async function aWalkToPrune(): Promise<{ walk: Walk; runs: string[]; feed: () => void }> {
  const walk = new Walk(1);
  walk.world.service.isFlawless = true;
  await walk.run();
  const [run = ''] = walk.runs.names;
  walk.world.pass(2 * HOUR);
  await walk.feed(run, 3);
  const { tables } = walk.world;
  const [path = '', table] = [...tables].at(-1) ?? [];
  tables.delete(path);
  return { walk, runs: walk.runs.names, feed: () => tables.set(path, table!) };
}

test.each(['kill', 'power'] as const)(
  'a prune that ends by %s at any operation on the disk is finished by the next, and nothing is sent twice',
  async (kind) => {
    let deaths = 0;
    for (let after = first; ; after += step) {
      const { walk, runs, feed } = await aWalkToPrune();
      const sent = walk.world.service.taken.length;
      const { exitCode } = await walk.prune({ kind, after });
      if (exitCode !== undefined) break;
      deaths += 1;

      // Between the two, the job is run: whatever was pruned by then. A lock that was cut off in the middle lasts for a while.
      walk.world.pass(HOUR);
      await walk.run();
      await walk.prune();

      // A power cut makes another of it.
      const { volume } = walk.world.disk;
      for (const run of runs) {
        expect(volume.readdirSync(walk.runs.directoryOf(run)).map(String).sort(), `${after}`).toEqual([
          'pruned.ndjson',
          'summary.json',
        ]);
      }
      feed();
      await walk.run();
      expect(walk.world.service.taken.length, `${after}`).toBe(sent);
    }
    expect(deaths * step).toBeGreaterThan(30);
  },
);
