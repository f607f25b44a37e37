import { expect, test } from 'vitest';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import { oneIn, stepsOf } from '../one-in.js';
import { memoriesAmong } from '../registry/memory-on-disk.js';
import type { Mishap } from '../world/process.js';
import { Walk, WHOLE_EXPORT } from './walk.js';
import { JOB } from './walk-runs.js';
import { HOUR } from './walk-world.js';

/** Of its own: where bugs are planted, every operation is tried, and tests may take less. */
const EVERY_OPERATION_MS = 300_000;
const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'];
const PACKED = ['1-sms.requests.ndjson.gz', '1-sms.rows.ndjson.gz'];

/** A command that dies, and the commands behind it. What is lost or sent twice ends the walk with an error. */
interface Script {
  readonly walk: Walk;
  readonly die: (death: Mishap) => Promise<unknown>;
  /** Whether what the script is about had happened when it died. */
  readonly resume: () => Promise<boolean>;
}

function aWalk(seed = 1): Walk {
  const walk = new Walk(seed);
  walk.world.endFaults();
  return walk;
}

const filesOf = ({ world, runs }: Walk, run: string) =>
  world.disk.volume.readdirSync(runs.directoryOf(run)).map(String).sort();
const planFilesOf = (walk: Walk) =>
  filesOf(walk, walk.runs.names[0] ?? '').filter((name) => /^1-sms\.(requests|rows)\.ndjson/.test(name));
const outputsOf = ({ runs }: Walk) => OUTPUTS.map((output) => runs.readOutput(runs.names[0] ?? '', output));

/** Of a run that no one cut short. */
let wholeOutputs: unknown;

/** A run, which packs its plan at its end. */
async function aRun(): Promise<Script> {
  if (wholeOutputs === undefined) {
    const whole = aWalk();
    await whole.run();
    expect(planFilesOf(whole)).toEqual(PACKED);
    wholeOutputs = outputsOf(whole);
  }
  const walk = aWalk();
  return {
    walk,
    die: (death) => walk.run(death),
    resume: async () => {
      const [run] = walk.runs.names;
      const hadEnded = run !== undefined && walk.runs.stateOf(run).isFinished;
      const expectAsWhole = () => hadEnded && expect(outputsOf(walk)).toEqual(wholeOutputs);
      if (hadEnded) await walk.report(run);
      expectAsWhole();
      await walk.run();
      await walk.apply(walk.runs.names[0] ?? '');
      expect(planFilesOf(walk)).toEqual(PACKED);
      expectAsWhole();
      await walk.finish();
      expect(planFilesOf(walk)).toEqual(PACKED);
      return hadEnded;
    },
  };
}

/**
 * A run hours behind the last entry of the job. What was written last is lost, in part or whole, and the file keeps its time. No one has
 * to say that it is no copy: a refusal to open would end the walk.
 */
async function aRunHoursLater(): Promise<Script> {
  const walk = aWalk(3);
  await walk.run();
  await walk.world.pass(2 * HOUR);
  await walk.feed(walk.runs.names[0] ?? '', 3);
  return {
    walk,
    die: (death) => walk.run(death),
    // Twice, as the second finds what the first left.
    resume: async () => {
      await walk.run();
      await walk.world.pass(HOUR);
      await walk.run();
      return true;
    },
  };
}

/** Of a run whose process died at its first answer. Once the memory has it, the run sends nothing. */
async function anAbandon(): Promise<Script> {
  const walk = aWalk();
  await walk.run({ kind: 'kill with a request', after: 1 });
  await walk.world.pass(HOUR);
  const [run = ''] = walk.runs.names;
  const isEntered = () => {
    const { volume } = walk.world.disk;
    const name = memoriesAmong(volume.readdirSync(JOB).map(String)).at(-1);
    const { runs }: MemoryDocument = readSealed(String(volume.readFileSync(`${JOB}/${name}`, 'utf8')));
    return runs.some(({ abandoned }) => abandoned !== undefined);
  };
  return {
    walk,
    die: (death) => walk.abandon(run, death),
    resume: async () => {
      const sent = walk.world.taken.length;
      const wasEntered = isEntered();
      await walk.run();
      await walk.apply(run);
      if (wasEntered) expect(walk.world.taken).toHaveLength(sent);
      await walk.abandon(run);
      await walk.finish();
      expect(walk.world.taken.length).toBeGreaterThan(sent);
      return wasEntered;
    },
  };
}

/** Of a finished run with nothing in doubt; its rejections come back as input, as they were before. Nothing is sent twice. */
async function aPrune(): Promise<Script> {
  const walk = aWalk();
  await walk.run();
  await walk.world.pass(2 * HOUR);
  await walk.feed(walk.runs.names[0] ?? '', 3);
  const { tables } = walk.world;
  const [path = '', table] = [...tables].at(-1) ?? [];
  tables.delete(path);
  const runs = walk.runs.names;
  const sent = walk.world.taken.length;
  return {
    walk,
    die: (death) => walk.prune(death),
    resume: async () => {
      // Whatever was pruned by then.
      await walk.run();
      await walk.prune();
      for (const run of runs) expect(filesOf(walk, run)).toEqual(['run.json', 'summary.json']);
      tables.set(path, table!);
      await walk.run();
      expect(walk.world.taken).toHaveLength(sent);
      return true;
    },
  };
}

/** Of a run of which a request is in doubt, by an export and by receipts. Each row is settled once, and the outputs say so. */
async function aSettle(): Promise<Script> {
  const walk = aWalk();
  await walk.run({ kind: 'kill with a request', after: 2 });
  await walk.world.pass(HOUR);
  await walk.run();
  const [run = ''] = walk.runs.names;
  const isInDoubt = () => walk.runs.namesWith('in doubt').length > 0;
  expect(isInDoubt()).toBe(true);
  return {
    walk,
    die: (death) => walk.settleByExport(run, WHOLE_EXPORT, death),
    resume: async () => {
      await walk.run();
      await walk.listen(run, 1);
      await walk.finish();
      expect(isInDoubt()).toBe(false);
      return true;
    },
  };
}

/** A disk fails with a code, unless it only takes a part of what is written. */
const mishapOf = (kind: (typeof SCRIPTS)[number][1], after: number): Mishap =>
  kind === 'kill' || kind === 'power' || kind === 'short write' ? { kind, after } : { kind: 'disk', code: kind, after };

/** What no command may go on without; what is tidied up, packed or given back at its end may fail. */
const NEVER_PASSED_OVER = /^(write|datasync) .*\/journal\.ndjson$/;

/** Each with how far apart the operations are that are tried (no multiple of 7: one script in seven is tried with each commit), and how many there are at least. */
const SCRIPTS = [
  ['a run', 'kill', aRun, 40, 100],
  ['a run', 'power', aRun, 40, 100],
  ['a run hours after the last', 'power', aRunHoursLater, 25, 100],
  ['an abandon', 'kill', anAbandon, 10, 30],
  ['an abandon', 'power', anAbandon, 10, 30],
  ['a settle', 'kill', aSettle, 16, 20],
  ['a settle', 'power', aSettle, 16, 20],
  ['a prune', 'kill', aPrune, 10, 30],
  ['a prune', 'power', aPrune, 10, 30],
  ['a run', 'EIO', aRun, 40, 100],
  ['a run', 'EMFILE', aRun, 40, 100],
  ['a run', 'short write', aRun, 80, 100],
  ['an abandon', 'ENOSPC', anAbandon, 10, 30],
  ['a settle', 'EIO', aSettle, 16, 20],
  ['a prune', 'EIO', aPrune, 10, 30],
] as const;

test.each(oneIn(7, SCRIPTS))(
  '%s that ends by %s at any operation on the disk is made good by the next command: nothing is lost, nothing sent twice',
  async (_what, kind, begin, every, atLeast) => {
    const { first, step } = stepsOf(every);
    let deaths = 0;
    let happened = 0;
    const unreported = new Set<string>();
    for (let after = first; ; after += step) {
      const { walk, die, resume } = await begin();
      const before = walk.counts.deaths;
      await die(mishapOf(kind, after));
      if (walk.counts.deaths === before) break;
      deaths += 1;
      // A lock that was cut off in the middle lasts for a while.
      await walk.world.pass(HOUR);
      const isIt = await resume().catch((error) => {
        throw new Error(`operation ${after}: ${error.message}`);
      });
      if (isIt) happened += 1;
      for (const operation of walk.unreported) unreported.add(operation);
    }
    expect(deaths * step).toBeGreaterThan(atLeast);
    expect(happened).toBeGreaterThan(1);
    expect([...unreported].filter((operation) => NEVER_PASSED_OVER.test(operation))).toEqual([]);
  },
  EVERY_OPERATION_MS,
);
