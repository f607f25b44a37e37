import { execFileSync } from 'node:child_process';
import { constants, mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { aJob, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import type { Ended } from './command.js';

const PLAN = 'out/sale/k3v9q2m8x4aa/plan.json';

/** A job with a run whose plan is a pipe that nobody writes to: a read of it never ends, as that of a disk that does not answer. */
async function aJobThatHangs(): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace));
  mkdirSync(workspace.path('out/sale/k3v9q2m8x4aa'), { recursive: true });
  execFileSync('mkfifo', [workspace.path(PLAN)]);
  return workspace;
}

/** Resolves once somebody reads; as long as the file is held, that read does not end. */
async function holdReader(workspace: Workspace): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  const tryToHold = async () => {
    // Without waiting for a reader: refused where there is none.
    handle = await open(workspace.path(PLAN), constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
    return handle !== undefined;
  };
  await expect.poll(tryToHold, { interval: 5, timeout: 60_000 }).toBe(true);
  return handle as unknown as FileHandle;
}

function expectInterrupted({ code, signal, stdout }: Ended): void {
  // Node cannot end while a read holds it: it is killed then.
  expect(code === 75 || signal === 'SIGKILL', `${code} ${signal}`).toBe(true);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'stopped', exitCode: 75, error: { code: 'interrupted' } });
}

test.concurrent.each([
  ['run', 'job.yaml'],
  ['plan', 'job.yaml'],
  ['apply', 'out/sale/k3v9q2m8x4aa'],
  ['status', 'out/sale/k3v9q2m8x4aa'],
  ['report', 'out/sale/k3v9q2m8x4aa'],
  ['settle', 'out/sale/k3v9q2m8x4aa', '--assume', 'sent', '--confirm', '1'],
  ['retry', 'out/sale/k3v9q2m8x4aa', '--only', 'rejected'],
])('a signal ends %s %s while a read holds it, soon, and with one object', async (...args) => {
  const workspace = await aJobThatHangs();
  const running = workspace.start(args);
  const held = await holdReader(workspace);
  try {
    running.signal('SIGTERM');
    expectInterrupted(await running.ended);
    expect(workspace.requests()).toEqual([]);
  } finally {
    await held.close();
  }
});

test.concurrent('a second signal ends a run while a secret is read from a disk that does not answer', async () => {
  const workspace = await aJobThatHangs();
  workspace.writeJob(aJob(workspace, { service: { credentials: { apiKey: { file: PLAN } } } }));
  const running = workspace.start(['run', 'job.yaml']);
  const held = await holdReader(workspace);
  try {
    running.signal('SIGTERM');
    await running.says('nothing new is sent');
    running.signal('SIGINT');
    expectInterrupted(await running.ended);
  } finally {
    await held.close();
  }
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
