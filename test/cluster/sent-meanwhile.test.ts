import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { systemClock } from '../../src/ports/clock.js';
import { aJob, anSmsStep, numbersOf } from '../e2e/a-job.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand } from './a-hand.js';
import { type BreakCall, MemoryCluster } from './memory-store.js';

const STEPS = [anSmsStep({ batchSize: 1 }), anSmsStep({ batchSize: 1 })];
const ONCE = numbersOf(3);
const DIES = 'the leader dies';

test('what a process without the database had under way when it died is not sent again over the database', async () => {
  const { workspace, memory, run, dieSending } = await aJobOfTwoSteps();
  await expect(run(memory, at('openStep', 2, die))).rejects.toThrow(DIES);
  expect(await workspace.destinations()).toEqual(ONCE);
  workspace.writeJob(aJob(workspace, { steps: STEPS }));
  await dieSending();
  const sent = [...numbersOf(1), ...ONCE];
  expect(await workspace.destinations()).toEqual(sent);

  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  for (let repeat = 0; repeat < 2; repeat += 1)
    await expect(run(memory)).rejects.toThrow(/the database lacks 1 request that may have been sent(?!, and has)/);
  expect(await workspace.destinations()).toEqual(sent);
});

test.each(['lead', 'confirmLife', 'readServer'])(
  'a run that its server has lost, at the latest before %s of the process that resumes it, stays refused',
  async (moment) => {
    const { memory, run, workspace } = await aJobOfTwoSteps({ sendHere: false });
    let standby: ReturnType<MemoryCluster['copyStandby']> | undefined;
    const copy = at('handOver', 1, () => {
      standby = memory.copyStandby();
    });
    const dying = at('handOver reply', 1, die);
    await expect(run(memory, (method) => copy(method) ?? dying(method))).rejects.toThrow(DIES);
    const hand = await aHand(memory.connect());
    expect(await hand.begin()).toMatchObject({ refused: [] });
    await hand.die();

    const refused = run(
      memory,
      at(moment, 1, () => standby?.promote()),
    );
    await expect(refused).rejects.toMatchObject({ code: 'registry-mismatch' });
    for (let repeat = 0; repeat < 2; repeat += 1)
      await expect(run(memory)).rejects.toThrow('the database lacks 3 requests that may have been sent');
    expect(await workspace.destinations()).toEqual([]);
  },
);

test('a run that waits for a worker to say what it sent stops at once, and is resumed', async () => {
  const { workspace, memory, run, lead } = await aJobOfTwoSteps({ sendHere: false });
  await expect(run(memory, at('handOver reply', 1, die))).rejects.toThrow(DIES);
  const hand = await aHand(memory.connect());
  memory.restart();
  const waiting: ReturnType<typeof lead> = lead(
    memory,
    at('confirmLife reply', 1, () => waiting.stop()),
  );

  expect(await waiting.ended).toBe(75);
  await hand.die();
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  expect(await run(memory)).toBe(0);
  expect((await workspace.destinations()).toSorted()).toEqual([...ONCE, ...ONCE].toSorted());
});

function die(): never {
  throw new Error(DIES);
}

/** What happens at a call, as it is made for the n-th time. */
function at(what: string, nth: number, act: () => void): BreakCall {
  let calls = 0;
  return (method) => {
    if (method === what) calls += 1;
    if (method === what && calls === nth) act();
    return undefined;
  };
}

async function aJobOfTwoSteps(cluster: object = {}) {
  const workspace = await aJobOf(3, { cluster: { ...CLUSTER, ...cluster }, steps: STEPS, sameText: 'send' });
  const commands = aCluster(workspace);
  const over = (memory: MemoryCluster, breakCall?: BreakCall) => ({ loadStore: async () => memory.connect(breakCall) });
  return {
    ...{ workspace, memory: new MemoryCluster(systemClock) },
    run: (memory: MemoryCluster, breakCall?: BreakCall) => commands.run(over(memory, breakCall)),
    lead: (memory: MemoryCluster, breakCall: BreakCall) => commands.lead(over(memory, breakCall)),
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
  };
}
