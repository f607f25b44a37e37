import { execFileSync } from 'node:child_process';
import { constants, mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess, type Workspace } from './a-workspace.js';
import type { Ended } from './command.js';

const PLAN = 'out/sale/k3v9q2m8x4aa/plan.json';

/** A job with a run whose plan is a pipe that no one writes to: a read of it never ends, as that of a disk that does not answer. */
async function aJobThatHangs(): Promise<Workspace> {
  const workspace = await aWorkspaceInProcess();
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace));
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

function expectInterrupted({ code, signal, stdout }: Ended): void {
  // Node cannot end while a read holds it: it is killed then.
  expect(code === 75 || signal === 'SIGKILL', `${code} ${signal}`).toBe(true);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'stopped', exitCode: 75, error: { code: 'interrupted' } });
}

async function expectEndsBySignal(workspace: Workspace, args: readonly string[], blocked?: string): Promise<void> {
  const running = workspace.start(args);
  const held = await holdReader(workspace, blocked);
  try {
    running.signal('SIGTERM');
    expectInterrupted(await running.ended);
    expect(workspace.requests()).toEqual([]);
  } finally {
    await held.close();
  }
}

test.concurrent.each([
  ['run', 'job.yaml'],
  ['settle', 'out/sale/k3v9q2m8x4aa', '--assume', 'sent', '--confirm', '1'],
])('a signal ends %s %s while a read holds it, soon, and with one object', async (...args) => {
  await expectEndsBySignal(await aJobThatHangs(), args);
});

test.concurrent('a signal ends a single call while a secret is read from a disk that does not answer', async () => {
  const workspace = await aWorkspaceInProcess();
  const bases = { chat: workspace.sandbox.origin };
  workspace.writeJob(aJob(workspace, { service: { bases, credentials: { chat: { apiKey: { file: 'secret' } } } } }));
  execFileSync('mkfifo', [workspace.path('secret')]);
  await expectEndsBySignal(workspace, ['chat', 'post', 'Hi', '--job', 'job.yaml'], 'secret');
});

test.concurrent('the lock is given back, where the disk still takes it: the same command can be given at once', async () => {
  const workspace = await aJobThatHangs();
  const running = workspace.start(['plan', 'job.yaml']);
  const held = await holdReader(workspace);
  running.signal('SIGTERM');
  expectInterrupted(await running.ended);
  await held.close();
  execFileSync('rm', ['-r', workspace.path('out/sale/k3v9q2m8x4aa')]);
  expect((await workspace.run()).code).toBe(0);
});
