import { expect, test } from 'vitest';
import { decodeRegistryLine } from '../../src/registry/registry-entry.js';
import { stepsOf } from '../one-in.js';
import { Walk } from './walk.js';
import { JOB } from './walk-runs.js';
import { HOUR } from './walk-service.js';

/** One operation in five with each commit. */
const { first, step } = stepsOf(5);
/** Of its own: where bugs are planted, every operation is tried, and tests may take less. */
const EVERY_OPERATION_MS = 300_000;

/** A run whose process died while its second request was under way. */
async function aWalkThatStopped(): Promise<{ walk: Walk; run: string }> {
  const walk = new Walk(1);
  walk.world.service.isFlawless = true;
  await walk.run({ kind: 'kill with a request', after: 2 });
  walk.world.pass(HOUR);
  return { walk, run: walk.runs.names[0] ?? '' };
}

function isEntered({ world }: Walk): boolean {
  const lines = String(world.disk.volume.readFileSync(`${JOB}/registry.ndjson`, 'utf8')).split('\n');
  return lines.some((line) => decodeRegistryLine(Buffer.from(line))?.type === 'abandoned');
}

test.each(['kill', 'power'] as const)(
  'once the registry has it, an abandoned run sends nothing, though a %s ends the command at any operation on the disk; the next does the rest',
  async (kind) => {
    let deaths = 0;
    let entered = 0;
    for (let after = first; ; after += step) {
      const { walk, run } = await aWalkThatStopped();
      const { exitCode } = await walk.abandon(run, { kind, after });
      if (exitCode !== undefined) break;
      deaths += 1;

      // In between the job is run, and the run applied. A lock that was cut off in the middle lasts for a while.
      walk.world.pass(HOUR);
      const sent = walk.world.service.taken.length;
      const isAbandoned = isEntered(walk);
      if (isAbandoned) entered += 1;
      await walk.run();
      await walk.apply(run);
      if (isAbandoned) expect(walk.world.service.taken.length, `${after}`).toBe(sent);

      // What is lost or sent twice ends the walk with an error.
      await walk.abandon(run);
      await walk.finish();
      expect(walk.world.service.taken.length, `${after}`).toBeGreaterThan(sent);
    }
    expect(deaths * step).toBeGreaterThan(30);
    expect(entered).toBeGreaterThan(1);
  },
  EVERY_OPERATION_MS,
);
