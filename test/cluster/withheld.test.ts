import { expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { anSmsStep, numberOf, numbersOf } from '../e2e/a-job.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import type { BreakCall } from './memory-store.js';

const LIMITS = { requestsPerSecond: 10, messagesPerSecond: 25_000, concurrency: 2 };
const OUT = [550, 551, 590, 600];
const lineOf = (person: number) => `${numberOf(person)},out,2026-11-26T09:15:00.000Z,ann,STOP\n`;

test('numbers that opt out while workers send get nothing, those that were handed over to them included', async () => {
  const job = {
    cluster: { ...CLUSTER, sendHere: false },
    optOuts: 'opt-outs.csv',
    steps: [anSmsStep({ limits: LIMITS })],
  };
  const workspace = await aJobOf(600, job);
  workspace.write('opt-outs.csv', OPT_OUT_HEADER);
  const { cluster, run, work } = aClusterInMemory(workspace);
  let begun = 0;
  const afterSomeRequests: BreakCall = (method) => {
    if (method === 'append' && ++begun === 10) workspace.append('opt-outs.csv', OUT.map(lineOf).join(''));
    return undefined;
  };
  const workers = [work(afterSomeRequests), work(afterSomeRequests)];

  expect(await run()).toBe(0);
  await Promise.all(workers.map(({ ended }) => ended));
  const out = OUT.map(numberOf);
  expect(await workspace.destinations()).toEqual(numbersOf(600).filter((number) => !out.includes(number)));
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});
