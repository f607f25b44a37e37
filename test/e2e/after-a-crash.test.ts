import { describe, expect, test } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import type { Files } from '../../src/storage/files.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Finished, type Workspace } from './a-workspace.js';
import { runCommandInProcess } from './command-in-process.js';
import { readFailure } from './failure.js';

describe.concurrent('what a run leaves behind', () => {
  test('a command that finishes a run and sends a new file tells of both, and ends with the graver exit code', async () => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 });
    workspace.write('people-1.csv', people(30));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people-*.csv' } })] }));
    await killAfter(2, workspace, 'run', 'job.yaml');
    workspace.setFaults();
    workspace.write('people-2.csv', people(5, 101));

    const { code, stdout } = await workspace.run();

    const { balance, earlier } = JSON.parse(stdout);
    expect(code).toBe(3);
    expect(balance).toMatchObject({ read: 5, accepted: 5 });
    expect(earlier).toMatchObject([{ exitCode: 3, balance: { accepted: 20, inDoubt: 10 } }]);
  });

  test('a command that finishes a run, and cannot plan what is new, tells of the run that it finished', async () => {
    const workspace = await aWorkspace({ kind: 'status-401', nth: 2 });
    workspace.write('people-1.csv', people(30));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people-*.csv' } })] }));
    expect((await workspace.run()).code).toBe(4);
    workspace.setFaults();
    workspace.write('people-2.csv', 'name,mobile\n"P1,1\n');

    const { code, summary, stderr } = await workspace.run();

    expect(code).toBe(2);
    expect(summary).toMatchObject({ state: 'refused', earlier: [{ state: 'finished', balance: { accepted: 30 } }] });
    expect(stderr).toContain('Nothing was sent');
  });
});

/** A disk that fails as the memory is to have that a run has begun: its journal is there, and nothing was sent. */
function diesAsItBegins(): Env {
  const writeWhole: Files['writeWhole'] = (path, text) =>
    nodeEnv.files.writeWhole(path, (own) => {
      const whole = typeof text === 'string' ? text : text(own);
      const { runs }: MemoryDocument = path.includes('/memory-') ? readSealed(whole) : { runs: [] };
      if (!runs.some(({ begun, ended }) => begun !== undefined && ended === undefined)) return whole;
      throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' });
    });
  return { ...nodeEnv, files: { ...nodeEnv.files, writeWhole } };
}

/** A command on the job that dies as its run begins, `volley run job.yaml` unless another is named; gives the run. */
async function dieAsItBegins(workspace: Workspace, before = '', args = ['run', 'job.yaml']): Promise<string> {
  const start = { cwd: workspace.directory, env: workspace.env, runtime: diesAsItBegins() };
  const ended = await workspace.finish({ ended: runCommandInProcess(args, start) });
  expect([ended.code, readFailure(ended).error.code]).toEqual([75, 'EIO']);
  return workspace.plans().find((run) => run !== before) ?? '';
}

function writeJob(workspace: Workspace, text: string): void {
  const step = anSmsStep({ input: { files: ['people*.csv'] }, template: { source: 'ACME', text } });
  workspace.writeJob(aJob(workspace, { steps: [step] }));
}

async function applyPlanOf(workspace: Workspace): Promise<Finished> {
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  return workspace.volley('apply', directory);
}

test('a run that died as it began, and whose files another plan sent since, is not resumed', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  writeJob(workspace, 'Hi {{ name }}');
  const run = await dieAsItBegins(workspace);
  writeJob(workspace, 'Hello {{ name }}');
  expect((await applyPlanOf(workspace)).code).toBe(0);

  const { stdout, stderr } = await workspace.run();

  expect(JSON.parse(stdout).state).toBe('nothing-new');
  expect(stderr).toContain(`run ${run} is not resumed: it had sent nothing, and another run took its files since`);
  for (let round = 0; round < 2; round++) {
    const retry = await workspace.volley('retry', `out/sale/${run}`, '--only', 'unprocessed');
    expect(readFailure(retry).error.message).toMatch(/was never applied$/);
    const abandoned = JSON.parse((await workspace.volley('abandon', `out/sale/${run}`)).stdout);
    expect(abandoned).toMatchObject({ state: 'abandoned', filesAreFree: true });
  }
  expect((await workspace.run()).stderr).not.toContain('is not resumed');
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});
