import { expect, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { aJob, anSmsStep, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aCluster, CLUSTER } from './a-cluster.js';
import { aHand, tick } from './a-hand.js';
import { MemoryCluster } from './memory-store.js';

test('a worker goes over to another run of its job while the last request of its own is with someone else', async () => {
  const workspace = await aWorkspace();
  const cluster = { ...CLUSTER, sendHere: false };
  for (const [index, output] of ['first', 'second'].entries()) {
    workspace.write(`${output}.csv`, people(2 + index));
    const steps = [anSmsStep({ batchSize: 1, input: { files: `${output}.csv` } })];
    workspace.writeJob(aJob(workspace, { cluster, steps, sameText: 'send', output }), `${output}.yaml`);
  }
  const memory = new MemoryCluster(systemClock);
  const loadStore = async () => memory.connect();
  const [first, second] = ['first.yaml', 'second.yaml'].map((file) => aCluster(workspace, undefined, file));
  const [store, leading] = [memory.connect(), first?.lead({ loadStore })];
  const hand = await aHand(store, 1);
  await hand.begin();
  const worker = first?.work({ loadStore });
  while ((await store.findRun({ withOpenParts: true })) !== undefined) await tick();

  expect(await second?.run({ loadStore })).toBe(0);
  await hand.settle();
  expect([await leading?.ended, await worker?.ended]).toEqual([0, 0]);
}, 30_000);
