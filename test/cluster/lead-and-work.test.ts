import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { until } from '../e2e/command.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';
import { untilSent } from './a-hand.js';
import type { BreakCall } from './memory-store.js';

const FAST = { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 };
const STEPS = [anSmsStep({ limits: FAST })];

test('a run that is led sends each row once, and leaves nothing in the database', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  const { cluster, run } = aClusterInMemory(workspace);

  expect(await run()).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(300));
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});

test('workers send a run whose leader does not send, and end with it', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS }));
  const { run, work } = aClusterInMemory(workspace);
  const workers = [work(), work(), work()];

  expect(await run()).toBe(0);
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(300));
});

test('a worker that gets SIGTERM leaves its requests to the others', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS }));
  const { run, work } = aClusterInMemory(workspace);
  const [leaving, staying] = [work(), work()];
  const running = run();
  await untilSent(workspace, 100);
  leaving?.stop();

  expect(await leaving?.ended).toBe(75);
  expect([await running, await staying?.ended]).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(300));
});

test('a leader that gets SIGTERM takes back what its workers have not sent; they wait, and the next leader continues', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS }));
  const { cluster, lead, run, work } = aClusterInMemory(workspace);
  const workers = [work(), work()];
  const stopping = lead();
  await untilSent(workspace, 100);
  stopping.stop();

  expect(await stopping.ended).toBe(75);
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
  const next = work();
  expect(await run()).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(300));
  for (const { ended, stop } of [...workers, next]) {
    stop();
    expect([0, 75]).toContain(await ended);
  }
});

test('a worker leaves a run whose secrets it lacks to the others', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(200));
  const service = { credentials: { apiKey: { env: 'VOLLEY_LEADER_KEY' } } };
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS, service }));
  const { run, work } = aClusterInMemory(workspace);
  const worker = work();

  expect(await run()).toBe(0);
  expect(await worker.ended).toBe(0);
  expect(worker.said.stderr).toContain('VOLLEY_LEADER_KEY');
  expect(await workspace.destinations()).toEqual(numbersOf(200));
});

test('a worker reads a key from where it was allowed to, and from nowhere else', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(200));
  workspace.write('key.txt', workspace.sandbox.credentials.apiKey);
  const service = { credentials: { apiKey: { file: 'key.txt' } } };
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS, service }));
  const { lead, work } = aClusterInMemory(workspace);
  const leader = lead();
  const other = work();
  await until(() => other.said.stderr.includes('start the worker with --allow-secret-file'));
  expect(await workspace.destinations()).toEqual([]);

  const allowed = work(undefined, { allowSecretFile: [workspace.path('key.txt')] });

  expect([await leader.ended, await allowed.ended, await other.ended]).toEqual([0, 0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(200));
});

test('a worker that is for one run ends with 2 where that sends elsewhere; one for any leaves it to others', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(200));
  const service = { bases: { sms: 'https://sms.example.com' } };
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS, service }));
  const { lead, work } = aClusterInMemory(workspace);
  const leader = lead();
  const any = work();
  const why = 'it sends to \\"https://sms.example.com\\", expected an address of the service, or of this machine';
  await until(() => any.said.stderr.includes(why));

  await expect(work(undefined, { run: workspace.plans()[0] }).ended).rejects.toMatchObject({
    code: 'unsafe-environment',
    hint: 'If that is meant, start the worker with --allow-url https://sms.example.com',
  });
  any.stop();
  leader.stop();
  expect([await any.ended, await leader.ended]).toEqual([75, 75]);
});

test('a run continues where a standby takes over that had every commit, also if a worker notices it before its next beat', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS }));
  const { cluster, run, work } = aClusterInMemory(workspace);
  let claims = 0;
  const atTenthClaim: BreakCall = (method) => {
    claims += method === 'claim' ? 1 : 0;
    if (method === 'claim' && claims === 10) cluster.copyStandby().promote();
    return undefined;
  };
  const worker = work(atTenthClaim);

  expect(await run(atTenthClaim)).toBe(0);
  expect(await worker.ended).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(300));
});
