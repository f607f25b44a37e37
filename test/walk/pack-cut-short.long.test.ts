import { expect, test } from 'vitest';
import { stepsOf } from '../one-in.js';
import { Walk } from './walk.js';
import { HOUR } from './walk-service.js';

/** One operation in five with each commit. */
const { first, step } = stepsOf(5);

const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'];
const PLAN_FILES = /^1-sms\.(requests|rows)\.ndjson/;
const PACKED = ['1-sms.requests.ndjson.gz', '1-sms.rows.ndjson.gz'];

function aWalk(): Walk {
  const walk = new Walk(1);
  walk.world.service.isFlawless = true;
  return walk;
}

function readOutputs({ runs }: Walk) {
  const [run = ''] = runs.names;
  return OUTPUTS.map((output) => runs.readOutput(run, output));
}

function listPlanFiles({ world, runs }: Walk): string[] {
  const names = world.disk.volume.readdirSync(runs.directoryOf(runs.names[0] ?? '')).map(String);
  return names.filter((name) => PLAN_FILES.test(name)).sort();
}

test.each(['kill', 'power'] as const)(
  'a run that ends by %s at any operation on the disk, those of packing among them, is reported and resumed as if it had not',
  async (kind) => {
    const whole = aWalk();
    await whole.run();
    expect(listPlanFiles(whole)).toEqual(PACKED);
    const expected = readOutputs(whole);

    let deaths = 0;
    let ended = 0;
    for (let after = first; ; after += step) {
      const walk = aWalk();
      await walk.run({ kind, after });
      if (walk.counts.deaths === 0) break;
      deaths += 1;
      walk.world.pass(HOUR);
      const [run] = walk.runs.names;
      const hadEnded = run !== undefined && walk.runs.stateOf(run).isFinished;
      if (hadEnded) {
        ended += 1;
        await walk.report(run);
        expect(readOutputs(walk), `${after}`).toEqual(expected);
      }

      await walk.run();
      await walk.apply(walk.runs.names[0] ?? '');
      expect(listPlanFiles(walk), `${after}`).toEqual(PACKED);
      if (hadEnded) expect(readOutputs(walk), `${after}`).toEqual(expected);
      // Rows in doubt are settled, or retried; what is lost or sent twice ends the walk with an error.
      await walk.finish();
      expect(listPlanFiles(walk), `${after}`).toEqual(PACKED);
    }
    expect(deaths * step).toBeGreaterThan(100);
    expect(ended * step).toBeGreaterThan(60);
  },
);
