import { execFileSync } from 'node:child_process';
import { constants, mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { oneIn } from '../one-in.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees } from './account.js';
import { until } from './command.js';

const TWO_AT_ONCE = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 2 };

test.concurrent.each(oneIn(2, ['SIGTERM', 'SIGINT'] as const))(
  '%s: what is in flight is answered, nothing new is sent, and the same command goes on',
  async (name) => {
    const workspace = await aSlowJob(1500);
    const running = workspace.start(['run', 'job.yaml']);
    await until(() => workspace.requests().length === 3);
    running.signal(name);

    const { code, summary } = await workspace.finish(running);

    expect(code).toBe(75);
    expectEveryRowOnce(summary);
    expect(summary).toMatchObject({ state: 'stopped', stop: { reason: 'interrupted', detail: name } });
    expect(summary.balance).toMatchObject({ accepted: 30, inDoubt: 0, unprocessed: 20 });
    expect(workspace.requests()).toHaveLength(3);
    expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);

    workspace.setFaults();
    const again = await workspace.run();

    expect(again.code).toBe(0);
    expect(again.summary).toMatchObject({ plan: summary.plan, state: 'finished', balance: { accepted: 50 } });
    expect(await workspace.destinations()).toEqual(numbersOf(50));
  },
);

test.concurrent('a second signal leaves at once; what was in flight is in doubt, and is not sent again', async () => {
  const workspace = await aSlowJob(120_000);
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => workspace.requests().length === 3);
  // Of rows that are under way it does not say that they were not sent.
  expect((await workspace.volley('status', 'job.yaml', '--no-json')).stdout).toMatch(/ in doubt +open\n/);
  running.signal('SIGTERM');
  await running.says('nothing new is sent');
  running.signal('SIGTERM');

  expect((await running.ended).code).toBe(75);
  // It did not wait for the answers: the sandbox still holds them back.
  expect(workspace.requests().map(({ status }) => status)).toEqual([200, 0, 0]);
  workspace.setFaults();
  await expectInDoubt(workspace);
});

/** The first request is a probe, and answered at once; then two are in flight. */
const aSlowJob = (delayMs: number) =>
  aJobFor(people(50), { steps: [anSmsStep({ limits: TWO_AT_ONCE })] }, { kind: 'latency', nth: [2, 3], delayMs });

/** What was in flight is in doubt, and is not sent again. */
async function expectInDoubt(workspace: Workspace): Promise<void> {
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([3, { accepted: 30, inDoubt: 20, unprocessed: 0 }]);
  expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(20, 31)]);
}

const DRAIN_MS = 30_000;

/** Loaded before the command: thirty seconds are over as soon as there is this file; every other time passes as ever. */
const TIME_IS_UP = 'time-is-up';
const PASSING = `data:text/javascript,${encodeURIComponent(`import { existsSync } from 'node:fs';
const wait = globalThis.setTimeout;
globalThis.setTimeout = (task, ms, ...more) => {
  if (ms !== ${DRAIN_MS}) return wait(task, ms, ...more);
  const polling = setInterval(() => {
    if (!existsSync('${TIME_IS_UP}')) return;
    clearInterval(polling);
    task(...more);
  }, 5);
  return polling;
};`)}`;

test('one signal before a service that never answers: the wait is bounded, the next process stays out meanwhile', async () => {
  const workspace = await aSlowJob(600_000);
  const draining = workspace.start(['run', 'job.yaml'], { nodeArguments: ['--import', PASSING] });
  // The first is a probe.
  await until(() => workspace.requests().length === 3);
  draining.signal('SIGTERM');
  await draining.says('nothing new is sent');

  const next = await workspace.run();
  expect([next.code, next.stderr]).toEqual([75, expect.stringContaining('is running it')]);
  expect(workspace.requests()).toHaveLength(3);

  workspace.write(TIME_IS_UP, '');
  const { code, summary } = await workspace.finish(draining);
  expect(code).toBe(75);
  expect(summary).toMatchObject({ state: 'stopped', balance: { accepted: 10, inDoubt: 20, unprocessed: 20 } });
  expect(workspace.read(`${workspace.runOf(summary.plan)}/journal.ndjson`)).toContain('"type":"close"');
  await expectInDoubt(workspace);
});

const PLAN = 'out/sale/k3v9q2m8x4aa/plan.json';

/** A job with a run whose plan is a pipe that no one writes to: a read of it never ends, as that of a disk that does not answer. */
async function aJobThatHangs(): Promise<Workspace> {
  const workspace = await aJobFor(people(3));
  mkdirSync(workspace.path('out/sale/k3v9q2m8x4aa'), { recursive: true });
  execFileSync('mkfifo', [workspace.path(PLAN)]);
  return workspace;
}

/** Resolves once someone reads; as long as the file is held, that read does not end. */
async function holdReader(workspace: Workspace, name = PLAN): Promise<FileHandle> {
  // Without waiting for a reader: refused where there is none.
  const tryToHold = () => open(workspace.path(name), constants.O_WRONLY | constants.O_NONBLOCK);
  return vi.waitFor(tryToHold, { interval: 5, timeout: 60_000 });
}

async function expectEndsBySignal(workspace: Workspace, args: readonly string[], blocked?: string): Promise<void> {
  const running = workspace.start(args);
  const held = await holdReader(workspace, blocked);
  try {
    running.signal('SIGTERM');
    const { code, signal, stdout } = await running.ended;
    // Node cannot end while a read holds it: it is killed then.
    expect(code === 75 || signal === 'SIGKILL', `${code} ${signal}`).toBe(true);
    expect(stdout).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'stopped', exitCode: 75, error: { code: 'interrupted' } });
    expect(workspace.requests()).toEqual([]);
  } finally {
    await held.close();
  }
}

test.concurrent.each([
  ['run', 'job.yaml'],
  ['settle', 'out/sale/k3v9q2m8x4aa', '--assume', 'sent', '--confirm', '1'],
])('a signal ends %s %s while a read holds it, soon, and with one object; the lock is given back', async (...args) => {
  const workspace = await aJobThatHangs();
  await expectEndsBySignal(workspace, args);
  rmSync(workspace.path('out/sale/k3v9q2m8x4aa'), { recursive: true });
  expect((await workspace.run()).code).toBe(0);
});

test.concurrent('a signal ends a single call while a secret is read from a disk that does not answer', async () => {
  const workspace = await aWorkspace();
  const bases = { chat: workspace.sandbox.origin };
  workspace.change({ service: { bases, credentials: { chat: { apiKey: { file: 'secret' } } } } });
  execFileSync('mkfifo', [workspace.path('secret')]);
  await expectEndsBySignal(workspace, ['chat', 'post', 'Hi', '--job', 'job.yaml'], 'secret');
});
