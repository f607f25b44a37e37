import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { systemClock } from '../../src/ports/clock.js';
import { aTerminal } from '../command/a-terminal.js';
import { applyRun } from '../command/give-verb.js';
import { aJob, anSmsStep, numbersOf } from '../e2e/a-job.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand } from './a-hand.js';
import { NEW_LEAD } from './contract/cluster-under-test.js';
import { type BreakCall, MemoryCluster } from './memory-store.js';

const STEPS = [anSmsStep({ batchSize: 1 }), anSmsStep({ batchSize: 1 })];
const ONCE = numbersOf(3);

test('what a process without the database had under way when it died is not sent again over the database', async () => {
  const { workspace, memory, run, dieBeforeSecondStep, dieSending } = await aJobOfTwoSteps();
  await dieBeforeSecondStep(memory);
  workspace.writeJob(aJob(workspace, { steps: STEPS }));
  await dieSending();
  const sent = [...numbersOf(1), ...ONCE];
  expect(await workspace.destinations()).toEqual(sent);

  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  await expect(run(memory)).rejects.toThrow('the database lacks 1 request that was not given to it');
  await expect(run(memory)).rejects.toThrow('the database lacks 1 request that was not given to it');
  expect(await workspace.destinations()).toEqual(sent);
});

test('nor what workers of another database had under way', async () => {
  const { workspace, memory, run, dieBeforeSecondStep } = await aJobOfTwoSteps();
  const other = new MemoryCluster(systemClock);
  await other.connect().lead({ run: 'before', epoch: 1 }, NEW_LEAD);
  await dieBeforeSecondStep(memory);
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS }));
  await expect(run(other, dyingAt('handOver reply'))).rejects.toThrow('the leader dies');
  const hand = await aHand(other.connect(), 2);
  expect(await hand.begin()).toMatchObject({ refused: [] });

  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  await expect(run(memory)).rejects.toThrow('the database lacks 3 requests that were not given to it');
  expect(await workspace.destinations()).toEqual(ONCE);
});

test('a run that lost what it was given, with its server, stays refused', async () => {
  const { workspace, memory, run } = await aJobOfTwoSteps({ sendHere: false });
  const standby = await leadUntilLost(memory, run);
  const hand = await aHand(memory.connect(), 1);
  expect(await hand.begin()).toMatchObject({ refused: [] });
  standby.promote();

  await expect(run(memory)).rejects.toThrow('the database lacks 3 requests that it had been given');
  await expect(run(memory)).rejects.toThrow('the database lacks 3 requests that it had been given');
  expect(await workspace.destinations()).toEqual([]);
});

test.each(['confirmLife', 'readServer'])(
  'so does one that its server loses while it is resumed, before %s',
  async (moment) => {
    const { workspace, memory, run } = await aJobOfTwoSteps({ sendHere: false });
    const standby = await leadUntilLost(memory, run);

    await expect(run(memory, onceAt(moment, standby.promote))).rejects.toThrow('knows another leader of it, or none');
    await expect(run(memory)).rejects.toThrow('the database lacks 3 requests that it had been given');
    await expect(run(memory)).rejects.toThrow('the database lacks 3 requests that it had been given');
    expect(await workspace.destinations()).toEqual([]);
  },
);

test.each(['confirmLife', 'readServer'])(
  'a server that knows who resumes the run has lost nothing of it, also where it is another before %s',
  async (moment) => {
    const { workspace, memory, run } = await aJobOfTwoSteps({ sendHere: false });
    await expect(run(memory, dyingAt('handOver reply'))).rejects.toThrow('the leader dies');
    let standby: ReturnType<MemoryCluster['copyStandby']> | undefined;
    const copy = onceAt('lead reply', () => {
      standby = memory.copyStandby();
    });
    const promote = onceAt(moment, () => standby?.promote());
    workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));

    expect(await run(memory, (method) => copy(method) ?? promote(method))).toBe(0);
    expect((await workspace.destinations()).toSorted()).toEqual([...ONCE, ...ONCE].toSorted());
  },
);

test('a run that waits for a worker to say what it sent stops at once, and is resumed', async () => {
  const { workspace, memory, run, lead } = await aJobOfTwoSteps({ sendHere: false });
  await expect(run(memory, dyingAt('handOver reply'))).rejects.toThrow('the leader dies');
  const hand = await aHand(memory.connect(), 1);
  memory.restart();
  let stop: () => void = () => {};
  const waiting = lead(
    memory,
    onceAt('confirmLife reply', () => stop()),
  );
  stop = waiting.stop;

  expect(await waiting.ended).toBe(75);
  await hand.die();
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  expect(await run(memory)).toBe(0);
  expect((await workspace.destinations()).toSorted()).toEqual([...ONCE, ...ONCE].toSorted());
});

test('a finished run whose leader died before it dropped it is applied again', async () => {
  const { workspace, memory, run, apply } = await aJobOfTwoSteps();
  await expect(run(memory, dyingAt('drop'))).rejects.toThrow('the leader dies');
  expect(await apply(memory)).toBe(0);
  expect(memory.count().parts).toBe(0);
  expect(await workspace.destinations()).toHaveLength(6);
});

function dyingAt(what: string): BreakCall {
  return (method) => {
    if (method === what) throw new Error('the leader dies');
    return undefined;
  };
}

function onceAt(what: string, act: () => void): BreakCall {
  let isDone = false;
  return (method) => {
    if (method === what && !isDone) act();
    isDone ||= method === what;
    return undefined;
  };
}

type Run = (memory: MemoryCluster, breakCall?: BreakCall) => Promise<number>;

/** The standby lacks all requests. */
async function leadUntilLost(memory: MemoryCluster, run: Run) {
  let standby: ReturnType<MemoryCluster['copyStandby']> | undefined;
  const dying = dyingAt('handOver reply');
  const ended = run(memory, (method) => {
    if (method === 'handOver') standby ??= memory.copyStandby();
    return dying(method);
  });
  await expect(ended).rejects.toThrow('the leader dies');
  if (standby === undefined) throw new Error('nothing was handed over');
  return standby;
}

async function aJobOfTwoSteps(cluster: object = {}) {
  const workspace = await aJobOf(3, { cluster: { ...CLUSTER, ...cluster }, steps: STEPS, sameText: 'send' });
  const commands = aCluster(workspace);
  const run: Run = (memory, breakCall) => commands.run({ loadStore: async () => memory.connect(breakCall) });
  return {
    ...{ workspace, memory: new MemoryCluster(systemClock), run },
    lead: (memory: MemoryCluster, breakCall: BreakCall) =>
      commands.lead({ loadStore: async () => memory.connect(breakCall) }),
    /** All that the database was given is done. */
    dieBeforeSecondStep: async (memory: MemoryCluster) => {
      const dying = dyingAt('openStep');
      let steps = 0;
      const died = run(memory, (method) => {
        if (method === 'openStep') steps += 1;
        return steps === 2 ? dying(method) : undefined;
      });
      await expect(died).rejects.toThrow('the leader dies');
      expect(await workspace.destinations()).toEqual(ONCE);
    },
    /** Its first answer never comes. */
    dieSending: async () => {
      const create = await nodeEnv.loadTransport();
      const loadTransport: typeof nodeEnv.loadTransport = async () => (timeouts) => {
        const transport = create(timeouts);
        const send: typeof transport.send = async (...args) => {
          await transport.send(...args);
          throw new Error('the process dies');
        };
        return { ...transport, send };
      };
      await expect(commands.run({ loadTransport })).rejects.toThrow('the process dies');
    },
    apply: (memory: MemoryCluster) => {
      const env = {
        VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey,
        VOLLEY_DATABASE_URL: 'postgres://nowhere/volley',
      };
      const { terminal } = aTerminal({ env, isStderrTerminal: false });
      const host = { ...terminal, runtime: { ...nodeEnv, loadStore: async () => memory.connect() } };
      const directory = workspace.path(`out/sale/${workspace.runs()[0]}`);
      return applyRun({ run: directory, confirm: undefined, ignoreChangedInputs: false, json: true }, host);
    },
  };
}
