import { expect, test } from 'vitest';
import type { Store } from '../../src/cluster/store.js';
import { aJob, anSmsStep, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';
import { aHand, tick } from './a-hand.js';

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
  let looksSince = Number.NEGATIVE_INFINITY;
  const dies = run((method) => {
    // The first look finds the answer, the second says that the journal has it.
    if (method === 'readNews' && ++looksSince === 2) throw new Error('the leader dies');
    return undefined;
  }).catch(() => 'died');
  const lost = await aHand(store, 1);
  await lost.begin();
  await lost.die();
  await untilTaken(store, lost.run);
  const other = await aHand(store, 1);
  await lost.settle();
  looksSince = 0;
  expect(await dies).not.toBe(0);

  const running = run();
  await untilTaken(store, lost.run, 2);
  const next = await aHand(store, 1, other.worker);
  await next.begin();
  await next.settle();
  expect(await running).toBe(0);
  expect(readSummary(workspace)).toMatchObject({ balance: { accepted: 20, inDoubt: 0 } });
});

async function untilTaken(store: Store, run: string, epoch = 1): Promise<void> {
  for (;;) {
    await tick();
    const news = await store
      .readNews({ run, epoch }, { leaseMs: 30_000, limit: 10, seenAtMs: 0 })
      .catch(() => undefined);
    if (news?.ended.length === 0) return;
  }
}

function readSummary(workspace: Awaited<ReturnType<typeof aWorkspace>>): unknown {
  return JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/summary.json`));
}
