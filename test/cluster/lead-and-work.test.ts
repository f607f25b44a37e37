import { expect, test } from 'vitest';
import { describeFailure } from '../../src/command/failure.js';
import { UserError } from '../../src/domain/errors.js';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { until } from '../e2e/command.js';
import { aCluster, aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand, tick, untilSent } from './a-hand.js';
import type { BreakCall } from './memory-store.js';

const FAST = { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 };
const STEPS = [anSmsStep({ limits: FAST })];

test('a worker that gets SIGTERM leaves its requests to the others; a leader takes back what they have not sent, and they wait for the next', async () => {
  const workspace = await aJobOf(300, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS });
  const { cluster, lead, run, work } = aClusterInMemory(workspace);
  const [leaving, ...staying] = [work(), work(), work()];
  const stopping = lead();
  await untilSent(workspace, 50);
  leaving?.stop();
  expect(await leaving?.ended).toBe(75);
  await untilSent(workspace, 150);
  stopping.stop();

  expect(await stopping.ended).toBe(75);
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
  const next = work();
  expect(await run()).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(300));
  for (const { ended, stop } of [...staying, next]) {
    stop();
    expect([0, 75]).toContain(await ended);
  }
});

test('a database that refuses leader and worker in the middle of a run stops both with 4: the run has begun', async () => {
  const workspace = await aJobOf(300, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS });
  const { run, work } = aClusterInMemory(workspace);
  workspace.writeJob(aJob(workspace, { name: 'other', cluster: CLUSTER, steps: STEPS }), 'other.yaml');
  let isRefused = false;
  const breakCall: BreakCall = () => {
    if (isRefused) throw new UserError('bad-credentials', 'the role may not do this');
    return undefined;
  };
  const ended = [run(breakCall), work(breakCall).ended].map((end) => end.catch(describeFailure));
  await untilSent(workspace, 50);
  isRefused = true;

  for (const end of ended) expect(await end).toMatchObject({ state: 'stopped', exitCode: 4 });
  // So does a worker that has looked for a run before, and found none.
  let looks = 0;
  const looking: BreakCall = (method) => {
    if (method !== 'findRun') return undefined;
    looks += 1;
    return looks > 1 ? breakCall(method) : undefined;
  };
  expect(await work(looking, {}, 'other.yaml').ended.catch(describeFailure)).toMatchObject({ exitCode: 4 });
  expect(
    await run((method) => (method === 'lead' ? breakCall(method) : undefined)).catch(describeFailure),
  ).toMatchObject({ exitCode: 4 });
});

test('a database that refuses a second run of one command stops it with 4, as the first', async () => {
  const steps = [anSmsStep({ limits: FAST, input: { files: ['*.csv'] } })];
  const workspace = await aJobOf(100, { cluster: { ...CLUSTER, sendHere: false }, steps });
  const { cluster, lead, run, work } = aClusterInMemory(workspace);
  const first = lead();
  while (cluster.count().parts === 0) await tick();
  first.stop();
  expect(await first.ended).toBe(75);
  const worker = work(undefined, { untilDone: false });
  workspace.write('more.csv', people(300, 101));
  let isRefused = false;
  const ended = run(() => {
    if (isRefused) throw new UserError('bad-credentials', 'the role may not do this');
    return undefined;
  }).catch(describeFailure);
  await Promise.race([untilSent(workspace, 150), ended]);
  isRefused = true;

  expect(await ended).toMatchObject({ state: 'stopped', exitCode: 4 });
  worker.stop();
  await worker.ended;
});

test('a worker that lacks a secret of its job ends with 2 before there is a run', async () => {
  const workspace = await aWorkspace();
  const service = { credentials: { apiKey: { env: 'VOLLEY_LEADER_KEY' } } };
  workspace.writeJob(aJob(workspace, { cluster: CLUSTER, steps: STEPS, service }));

  await expect(aClusterInMemory(workspace).work().ended).rejects.toMatchObject({ code: 'bad-credentials' });
});

test('a worker whose job file has other limits leaves the run to others, until it has the file of the leader', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(200));
  const jobOf = (requestsPerSecond: number) => {
    const steps = [anSmsStep({ limits: { ...FAST, requestsPerSecond } })];
    return aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps });
  };
  workspace.writeJob(jobOf(1000));
  workspace.writeJob(jobOf(500), 'own.yaml');
  const { lead, work } = aClusterInMemory(workspace);
  const leader = lead();
  const worker = work(undefined, {}, 'own.yaml');
  await until(() => worker.said.stderr.includes('its leader has another job file'));
  expect(await workspace.destinations()).toEqual([]);
  workspace.writeJob(jobOf(1000), 'own.yaml');

  expect([await leader.ended, await worker.ended]).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(200));
});

test('a worker that wants the run to stop is heard, also while the leader looks at what a new life of the database has', async () => {
  const workspace = await aJobOf(3, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS });
  const { cluster, lead } = aClusterInMemory(workspace);
  const store = cluster.connect();
  let ask: (() => Promise<void>) | undefined;
  const leading = lead(async (method) => {
    if (method === 'lead') await ask?.();
    return undefined;
  });
  const hand = await aHand(store);
  ask = () => store.askToStop(hand.run, { reason: 'guard', detail: 'too many rows were rejected' });
  cluster.restart();
  await hand.die();

  expect(await leading.ended).toBe(4);
});

test('a worker is for the runs of its job alone', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(200));
  const written = aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS });
  workspace.writeJob(written);
  workspace.writeJob({ ...written, name: 'another' }, 'own.yaml');
  const { lead, work } = aClusterInMemory(workspace);
  const leader = lead();

  expect(await work(undefined, { untilIdle: 1000 }, 'own.yaml').ended).toBe(0);
  expect(await workspace.destinations()).toEqual([]);
  expect([await work().ended, await leader.ended]).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(200));
});

test('a run continues where a standby takes over that had every commit, also if a worker notices it before its next beat', async () => {
  const workspace = await aJobOf(300, { cluster: CLUSTER, steps: STEPS });
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

test.each([
  ['requests', { requestsPerSecond: 10, messagesPerSecond: 25_000, concurrency: 2 }, 150],
  ['messages', { requestsPerSecond: 1000, messagesPerSecond: 40, concurrency: 2 }, 299],
  ['requests, however slow they are', { requestsPerSecond: 0.01, messagesPerSecond: 25_000, concurrency: 2 }, 2],
])('workers have what the limit of %s sends in a lease, to continue without the leader', async (_, limits, parts) => {
  const cluster = { ...CLUSTER, sendHere: false, leaseSeconds: 15 };
  const workspace = await aJobOf(1000, { cluster, steps: [anSmsStep({ batchSize: 2, limits })] });
  const { cluster: database, lead } = aClusterInMemory(workspace);
  let looks = 0;
  const leader = lead((method) => {
    if (method === 'readNews') looks += 1;
    return undefined;
  });
  // As often as it takes to hand over all that there is.
  while (looks < 6) await tick();

  expect(database.count()).toMatchObject({ parts, attempts: 0 });
  leader.stop();
  expect(await leader.ended).toBe(75);
});

test('of two processes that begin the same plan in two directories at once, the second is refused and the first sends all', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(300));
  const job = aJob(workspace, { cluster: CLUSTER, steps: [anSmsStep({ limits: FAST })] });
  workspace.writeJob(job);
  workspace.write('other.yaml', JSON.stringify({ ...job, output: 'elsewhere' }));
  const { cluster, run } = aClusterInMemory(workspace);
  const other = aCluster(workspace, undefined, 'other.yaml');
  const connect = { loadStore: async () => cluster.connect() };

  const ends = await Promise.allSettled([run(), other.run(connect)]);

  expect(ends).toContainEqual({ status: 'fulfilled', value: 0 });
  expect(ends).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ code: 'registry-mismatch', message: expect.stringContaining('another leader') }),
  });
  expect(await workspace.destinations()).toEqual(numbersOf(300));
});

const SLOW = { requestsPerSecond: 10, messagesPerSecond: 25_000, concurrency: 2 };
const OUT = [550, 551, 590, 600];
const lineOf = (person: number) => `${numberOf(person)},out,2026-11-26T09:15:00.000Z,ann,STOP\n`;

test('numbers that opt out while workers send get nothing, those that were handed over to them included', async () => {
  const job = {
    cluster: { ...CLUSTER, sendHere: false },
    optOuts: 'opt-outs.csv',
    steps: [anSmsStep({ limits: SLOW })],
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
