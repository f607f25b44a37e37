import fc from 'fast-check';
import type { Mishap } from '../world/process.js';
import type { Walk } from './walk.js';
import type { RunTrait } from './walk-runs.js';
import { HOUR, MINUTE } from './walk-world.js';

export type WalkCommands = Iterable<fc.AsyncCommand<object, Walk>>;

const command = (name: string, step: (walk: Walk) => Promise<unknown>): fc.AsyncCommand<object, Walk> => ({
  check: () => true,
  run: async (_model, walk) => void (await step(walk)),
  toString: () => name,
});

const death: fc.Arbitrary<Mishap | undefined> = fc.option(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('kill', 'power', 'signal'), after: fc.integer({ min: 1, max: 90 }) }),
    fc.record({ kind: fc.constant('kill with a request' as const), after: fc.integer({ min: 1, max: 4 }) }),
  ),
  { nil: undefined, freq: 2 },
);
const seed = fc.integer({ min: 1, max: 1_000_000 });

type Chance = Readonly<{ run: number; seed: number; death: Mishap | undefined }>;

/** Something done with a run: mostly with one for which there is something to do, else with any. */
function onRun(name: string, trait: RunTrait, act: (walk: Walk, run: string, chance: Chance) => Promise<unknown>) {
  return fc.record({ run: fc.nat({ max: 19 }), seed, death }).map((chance) => {
    const { run, death } = chance;
    return command(`${name} of ${run}${describe(death)} (${chance.seed})`, async (walk) => {
      const fitting = run % 4 === 0 ? [] : walk.runs.namesWith(trait);
      const runs = fitting.length === 0 ? walk.runs.names : fitting;
      const chosen = runs[run % Math.max(1, runs.length)];
      if (chosen !== undefined) await act(walk, chosen, chance);
    });
  });
}

function onJob(name: string, act: (walk: Walk, death: Mishap | undefined) => Promise<unknown>) {
  return death.map((death) => command(`${name}${describe(death)}`, (walk) => act(walk, death)));
}

const OTHER_OUTPUTS = ['results', 'in-doubt', 'unprocessed', 'skipped'];

const retryRejected = (code: string | undefined) =>
  onRun(`retry rejected ${code}`, 'rejected', (walk, run, { death }) => walk.retry(run, 'rejected', code, death));

export const walkCommands: fc.Arbitrary<WalkCommands> = fc.commands(
  [
    onJob('run', (walk, death) => walk.run(death)),
    onJob('plan', (walk, death) => walk.plan(death)),
    onRun('apply', 'to be applied', (walk, run, { death }) => walk.apply(run, death)),
    onRun('apply', 'to be applied', (walk, run, { death }) => walk.apply(run, death)),
    onRun('settle by export', 'in doubt', (walk, run, { seed, death }) => walk.settleByExport(run, seed, death)),
    onRun('settle by export', 'in doubt', (walk, run, { seed, death }) => walk.settleByExport(run, seed, death)),
    onRun('settle by word', 'in doubt', (walk, run, { seed, death }) =>
      walk.settleByDecision(run, seed % 4 > 0, death),
    ),
    onRun('listen', 'in doubt', (walk, run, { seed, death }) => walk.listen(run, seed, death)),
    retryRejected(undefined),
    retryRejected('REJECTED'),
    retryRejected('1100'),
    onRun('retry not-sent', 'not-sent', (walk, run, { death }) => walk.retry(run, 'not-sent', undefined, death)),
    onRun('retry unprocessed', 'unprocessed', (walk, run, { death }) =>
      walk.retry(run, 'unprocessed', undefined, death),
    ),
    onRun('test', 'to be applied', (walk, run, { seed, death }) => walk.test(run, 1 + (seed % 12), death)),
    onRun('report', 'in doubt', (walk, run, { death }) => walk.report(run, death)),
    onRun('feed', 'rejected', (walk, run, { seed }) => walk.feed(run, seed)),
    onRun('feed', 'rejected', (walk, run, { seed }) => walk.feed(run, seed)),
    onRun('abandon', 'to be applied', (walk, run, { death }) => walk.abandon(run, death)),
    onRun('feed', 'a draft', (walk, run, { seed }) => walk.feed(run, seed)),
    onRun('forget', 'a claimant', (walk, run) => walk.forget(run)),
    onRun('settle wrongly', 'in doubt', (walk, run, { death }) => walk.settleWrongly(run, death)),
    onRun('feed an output of', 'in doubt', (walk, run, { seed }) =>
      walk.feedOutput(run, OTHER_OUTPUTS[seed % OTHER_OUTPUTS.length]!),
    ),
    onJob('prune', (walk, death) => walk.prune(death)),
    onJob('prune', (walk, death) => walk.prune(death)),
    fc.constant(command('deliver', async (walk) => walk.deliver())),
    fc
      .constantFrom(MINUTE, 40 * MINUTE, 2 * HOUR, 26 * HOUR)
      .map((ms) => command(`pass ${ms / MINUTE} min`, (walk) => walk.world.pass(ms))),
  ],
  { maxCommands: 60, size: 'max' },
);

function describe(death: Mishap | undefined): string {
  return death === undefined ? '' : ` (${death.kind} at ${death.after})`;
}
