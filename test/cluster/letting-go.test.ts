import { expect, test } from 'vitest';
import type { Store } from '../../src/cluster/store.js';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { runVerb } from '../../src/command/runner.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { abandon } from '../../src/verbs/abandon.js';
import { aTerminal } from '../command/a-terminal.js';
import { aJob, anSmsStep } from '../e2e/a-job.js';
import { readOutput } from '../e2e/account.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand } from './a-hand.js';
import { MemoryCluster } from './memory-store.js';

const ENV = { VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' };
const STEPS = [anSmsStep({ batchSize: 1 })];
const LEASE_MS = 40_000;
/** A request that had begun by the end of the lease leaves within this time. */
const AFTER_LEASE_MS = 20_000;

test('a run that its leader left is abandoned when no worker can begin any more of it, or send what it has begun', async () => {
  const { directory, clock, slept, store, hand } = await aLeftRun();
  expect(await (await hand()).begin()).toMatchObject({ refused: [] });
  const late = await hand();

  const { stderr } = await abandonRun(directory(), { clock });

  expect(slept).toEqual([LEASE_MS + AFTER_LEASE_MS]);
  expect(stderr).toMatch(/waits until 20\d\d-\S+Z: until then workers of the database may still send/);
  expect(stderr).toMatch(/`volley cluster drop [0-9a-z]{12}` deletes them/);
  expect(await late.begin()).toMatchObject({ refused: [0] });
  expect(await store.findRun({})).toMatchObject({ isOpen: false });

  // Now no one is at work, and nothing is under way: it is said at once.
  await abandonRun(directory(), { clock });
  expect(slept).toHaveLength(1);
});

test('rows that a leader had handed over have one figure everywhere, and are not for a person to settle before the run is resumed', async () => {
  const { workspace, directory, run, store } = await aLeftRun();
  const ask = async (...args: string[]) => {
    const { stdout } = await runCommandInProcess(args, { cwd: workspace.directory, env: {} });
    return args.at(-1) === '--no-json' ? stdout : JSON.parse(stdout);
  };
  const inDoubt = { inDoubt: 10, unprocessed: 0 };
  const openDoubt = { rows: 0, runs: [] };

  const report = await ask('report', directory());
  expect(report).toMatchObject({ balance: inDoubt, withWorkers: 10, openDoubt });
  expect(readOutput(report, 1, 'in-doubt')[0]).toMatchObject({ _code: 'with-workers' });
  const figures = { withWorkers: 10, balance: inDoubt };
  expect(await ask('status', directory())).toMatchObject({ steps: [figures], openDoubt });
  expect((await ask('runs', 'job.yaml')).runs).toMatchObject([{ balance: inDoubt }]);
  expect(await ask('report', directory(), '--no-json')).toContain(
    '(with-workers): the same command finds out their outcome',
  );
  expect(await ask('status', directory(), '--no-json')).toContain(
    'With workers, of those in doubt: 10 rows. The same command',
  );
  expect(workspace.read(`out/sale/${workspace.runs()[0]}/report.html`)).toContain('10 rows with workers:');
  expect(await ask('settle', directory(), '--assume', 'sent', '--confirm', '10')).toMatchObject({
    error: { message: expect.stringContaining('it ended with 10 rows under way') },
  });

  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: true }, steps: STEPS }));
  expect(await run(store)).toBe(0);
  expect(await ask('report', directory())).not.toHaveProperty('withWorkers');
});

test.each([
  ['without a database', {}],
  ['over another one, which does not know the run', { cluster: { ...CLUSTER, sendHere: true } }],
])('a run that its leader left is finished %s when no worker can begin any more of it', async (_, written) => {
  const { workspace, run, slept, clock, hand } = await aLeftRun();
  const late = await hand();
  workspace.writeJob(aJob(workspace, { ...written, steps: STEPS }));

  expect(await run(new MemoryCluster(clock).connect())).toBe(3);

  expect(slept).toEqual([LEASE_MS + AFTER_LEASE_MS]);
  expect(await late.begin()).toMatchObject({ refused: [0] });
  expect(await workspace.destinations()).toEqual([]);
});

/** As the refusal advises: to drop the run would put in doubt what was never sent. */
test('a directory whose run was led from a copy since then is refused at first, and resumed by the same command once more', async () => {
  const { workspace, directory, run, store } = await aLeftRun();
  const key = { run: directory().slice(-12), epoch: 2 };
  await store.lead(key, { job: 'sale', digest: '', leader: 'of the copy' });
  await store.renewLead(key, { leaseMs: 0, seenAtMs: Number.MAX_SAFE_INTEGER });
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: true }, steps: STEPS }));

  await expect(run()).rejects.toMatchObject({ hint: expect.stringContaining('give the same command once more') });
  expect(await run()).toBe(0);
  expect(await workspace.destinations()).toHaveLength(10);
});

async function abandonRun(run: string, runtime: Partial<Env>) {
  const { terminal, said } = aTerminal({ env: 'loadStore' in runtime ? ENV : {}, isStderrTerminal: false });
  const host = { ...terminal, runtime: { ...nodeEnv, ...runtime } };
  expect(await runVerb('abandon', abandon, { run, adopt: false, json: true }, host)).toBe(0);
  return said;
}

/** Its leader has handed over all of it, and died; nothing of it is sent. */
async function aLeftRun() {
  const cluster = { ...CLUSTER, sendHere: false, leaseSeconds: LEASE_MS / 1000 };
  const workspace = await aJobOf(10, { cluster, steps: STEPS });
  const slept: number[] = [];
  let passedMs = 0;
  /** Long sleeps are over at once; the clock of the database passes. */
  const clock: Clock = {
    ...systemClock,
    sleep: async (delayMs, signal) => {
      if (delayMs < LEASE_MS) return systemClock.sleep(delayMs, signal);
      slept.push(delayMs);
      passedMs += delayMs;
    },
  };
  const serverClock = { ...systemClock, now: () => systemClock.now() + passedMs };
  const memory = new MemoryCluster(serverClock);
  const store = memory.connect();
  const commands = aCluster(workspace);
  let isHanded = false;
  const dies = memory.connect((method) => {
    if (isHanded && method === 'readNews') throw new Error('the leader dies');
    isHanded ||= method === 'handOver reply';
    return undefined;
  });
  expect(await commands.run({ clock, loadStore: async () => dies }).catch(() => 'died')).not.toBe(0);
  return {
    ...{ workspace, clock, store, slept },
    directory: () => workspace.path(`out/sale/${workspace.runs()[0]}`),
    run: (over: Store = store) => commands.run({ clock, loadStore: async () => over }),
    hand: () => aHand(store),
  };
}
