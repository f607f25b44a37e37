import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';

test('jobs that name the account otherwise share one lane where their requests are the same', async () => {
  const workspace = await aWorkspace();
  const { run, cluster } = aClusterInMemory(workspace);
  for (const account of ['acme', 'acmee']) {
    workspace.write('people.csv', people(3, account.length));
    const cluster = { ...CLUSTER, share: 'lane' };
    workspace.writeJob(aJob(workspace, { cluster, sameText: 'send', service: { account, subAccountId: 'acme_hq' } }));
    expect(await run()).toBe(0);
  }
  expect(cluster.laneNames).toEqual([`sms ${workspace.sandbox.origin} acme_hq`]);
});

test('a job that shares only its lane sends by itself, in turns that the database gives', async () => {
  const step = anSmsStep({ limits: { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 } });
  const workspace = await aJobOf(100, { cluster: { ...CLUSTER, share: 'lane' }, steps: [step] });
  const { run } = aClusterInMemory(workspace);
  const calls = new Set<string>();
  const note = (method: string) => {
    calls.add(method);
    return undefined;
  };

  expect(await run(note)).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(100));
  expect(calls).toContain('book');
  // What others lost any process takes back.
  for (const method of ['book', 'recover']) for (const one of [method, `${method} reply`]) calls.delete(one);
  expect([...calls]).toEqual([]);
});
