import { expect, test } from 'vitest';
import type { Store, WorkingRun } from '../../src/cluster/store.js';
import { sameVerdictForAll } from '../../src/kinds/outcomes.js';
import { aJob, anSmsStep, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';

const ACCEPTED = { status: 'accepted', code: '', reason: '' } as const;
const LED = { cluster: { ...CLUSTER, sendHere: false } };

test('a late answer to a step that is over settles its row, and no request of the step that is sent meanwhile', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(2));
  const second = anSmsStep({ template: { source: 'ACME', text: 'Bye {{ name }}' } });
  workspace.writeJob(aJob(workspace, { ...LED, steps: [anSmsStep(), second] }));
  const { cluster, run } = aClusterInMemory(workspace);
  const store = cluster.connect();
  const running = run();

  const lost = await aHand(store, 1);
  await lost.begin();
  await lost.die();
  const other = await aHand(store, 2);
  await other.begin();
  await lost.settle();
  await untilTaken(store, other.run);
  await other.settle();

  expect(await running).toBe(0);
  expect(readSummary(workspace)).toMatchObject({ balance: { accepted: 4, inDoubt: 0 } });
});

test('a late answer is settled once, also by a leader that died before it could say so', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace, { ...LED, steps: [anSmsStep()] }));
  const { cluster, run } = aClusterInMemory(workspace);
  const store = cluster.connect();
  let isLate = false;
  const dies = run((method) => {
    if (method === 'noteTaken' && isLate) throw new Error('the leader dies');
    return undefined;
  }).catch(() => 'died');
  const lost = await aHand(store, 1);
  await lost.begin();
  await lost.die();
  await untilTaken(store, lost.run);
  const other = await aHand(store, 1);
  isLate = true;
  await lost.settle();
  expect(await dies).not.toBe(0);

  const running = run();
  await untilTaken(store, lost.run, 2);
  const next = await aHand(store, 1, other.worker);
  await next.begin();
  await next.settle();
  expect(await running).toBe(0);
  expect(readSummary(workspace)).toMatchObject({ balance: { accepted: 20, inDoubt: 0 } });
});

/** A worker in the hands of the test: it has claimed one request of a step. */
async function aHand(store: Store, step: number, worker = `w${Math.random()}`) {
  let run: WorkingRun | undefined;
  while (run?.step !== step) {
    await tick();
    run = await store.findRun({});
  }
  const key = { worker, run: run.run, step };
  await store.beat(worker, { name: worker, leaseMs: 600_000 });
  let [part] = (await store.claim(key, { count: 1, holding: [] })).parts;
  while (part === undefined) {
    await tick();
    [part] = (await store.claim(key, { count: 1, holding: [] })).parts;
  }
  const { request, part: path, rows, attempt } = part;
  const entry = { step, request, part: path, attempt: attempt + 1, nonce: `of ${worker}` };
  const outcomes = { ...sameVerdictForAll(rows[1], ACCEPTED) };
  return {
    worker,
    run: run.run,
    /** Its lease ends, and what it had begun is in doubt. */
    die: async () => {
      await store.leave(worker);
      await store.recover();
    },
    begin: () => store.append(key, [{ type: 'begin', ...entry }]),
    settle: () => store.append(key, [{ type: 'end', ...entry, result: { kind: 'settled', outcomes }, halves: [] }]),
  };
}

async function untilTaken(store: Store, run: string, epoch = 1): Promise<void> {
  for (;;) {
    await tick();
    const news = await store.readNews({ run, epoch }, 10).catch(() => undefined);
    if (news?.ended.length === 0) return;
  }
}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function readSummary(workspace: Awaited<ReturnType<typeof aWorkspace>>): unknown {
  return JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/summary.json`));
}
