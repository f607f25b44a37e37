import { expect, test } from 'vitest';
import { anSmsStep, numbersOf } from '../e2e/a-job.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import { untilSent } from './a-hand.js';
import type { BreakCall } from './memory-store.js';

const ROWS = 300;
const FAST = { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 };
const neverDrops: BreakCall = (method) => (method === 'drop' ? 'before' : undefined);

async function aLedRun() {
  const service = { giveUpAfterSeconds: 0 };
  const workspace = await aJobOf(ROWS, { cluster: CLUSTER, steps: [anSmsStep({ limits: FAST })], service });
  const readSummary = () => JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/summary.json`));
  return { workspace, readSummary, ...aClusterInMemory(workspace) };
}

test('a finished run has its outputs though the database is lost before it has forgotten it; the same command does the rest', async () => {
  const { workspace, readSummary, cluster, run } = await aLedRun();

  await expect(run(neverDrops)).rejects.toMatchObject({ code: 'unavailable' });
  expect(readSummary()).toMatchObject({ state: 'finished', balance: { accepted: ROWS } });
  expect(cluster.count()).toMatchObject({ parts: 30 });

  expect(await run()).toBe(0);
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
  expect(await workspace.destinations()).toEqual(numbersOf(ROWS));
});

test('a run that was stopped with nothing under way ends as any other where the database is lost before it has forgotten it', async () => {
  const { workspace, readSummary, run, lead } = await aLedRun();
  const stopping = lead(neverDrops);
  await untilSent(workspace, 100);
  stopping.stop();

  expect(await stopping.ended).toBe(75);
  expect(readSummary()).toMatchObject({ state: 'stopped' });
  expect(await run()).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(ROWS));
});
