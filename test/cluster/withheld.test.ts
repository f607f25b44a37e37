import { expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';
import { untilSent } from './a-hand.js';

const LIMITS = { requestsPerSecond: 20, messagesPerSecond: 25_000, concurrency: 2 };
const line = (person: number) => `${numberOf(person)},out,2026-11-26T09:15:00.000Z,ann,STOP\n`;

/** A run of 600 rows in batches of ten, which workers send: all are handed over to them ahead. */
async function aLedRun() {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(600));
  workspace.write('opt-outs.csv', OPT_OUT_HEADER);
  const cluster = { ...CLUSTER, sendHere: false };
  const steps = [anSmsStep({ limits: LIMITS })];
  workspace.writeJob(aJob(workspace, { cluster, optOuts: 'opt-outs.csv', steps }));
  return { workspace, ...aClusterInMemory(workspace) };
}

test('numbers that opt out while workers send get nothing, those that were handed over to them included', async () => {
  const { workspace, cluster, run, work } = await aLedRun();
  const workers = [work(), work()];
  const running = run();
  await untilSent(workspace, 100);
  workspace.append('opt-outs.csv', [450, 451, 490, 600].map(line).join(''));

  expect(await running).toBe(0);
  await Promise.all(workers.map(({ ended }) => ended));
  const out = [450, 451, 490, 600].map(numberOf);
  expect(await workspace.destinations()).toEqual(numbersOf(600).filter((number) => !out.includes(number)));
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});

test('numbers that opt out between two leaders get nothing, though the database had them', async () => {
  const { workspace, lead, run, work } = await aLedRun();
  const first = work();
  const stopping = lead();
  await untilSent(workspace, 100);
  stopping.stop();
  expect(await stopping.ended).toBe(75);
  first.stop();
  await first.ended;
  const sent = new Set(await workspace.destinations());
  const next = numbersOf(600).filter((number) => !sent.has(number));
  const out = [next[0], next[15], next.at(-1)].map(String);
  workspace.append('opt-outs.csv', out.map((number) => line(Number(number.slice(3)) - 91_000_000)).join(''));

  const second = work();
  expect(await run()).toBe(0);
  await second.ended;
  expect(await workspace.destinations()).toEqual(numbersOf(600).filter((number) => !out.includes(number)));
});
