import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';

const STEPS = [anSmsStep({ limits: { requestsPerSecond: 200, messagesPerSecond: 25_000, concurrency: 4 } })];

test('a database that goes away stops the run with 75; it continues once the database is back', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(400));
  workspace.writeJob(
    aJob(workspace, { cluster: { ...CLUSTER, leaseSeconds: 15 }, steps: STEPS, service: { giveUpAfterSeconds: 1 } }),
  );
  const { cluster, run } = aClusterInMemory(workspace);
  let appends = 0;
  const goesAway = (method: string) => {
    if (method === 'append') appends += 1;
    return appends > 5 ? ('before' as const) : undefined;
  };

  expect(await run(goesAway)).toBe(75);
  const { stop } = JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/summary.json`));
  expect(stop).toEqual({ reason: 'unavailable', detail: 'the connection broke' });
  const sent = await workspace.destinations();
  expect(sent.length).toBeLessThan(400);
  // What was on its way then has an answer that the database never got.
  expect([0, 3]).toContain(await run());
  const all = await workspace.destinations();
  expect(all).toEqual([...new Set(all)]);
  expect(all).toEqual(numbersOf(400).filter((number) => all.includes(number)));
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});
