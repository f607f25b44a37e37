import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import type { Files } from '../../src/storage/files.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Finished, type Workspace } from './a-workspace.js';
import { runCommandInProcess } from './command-in-process.js';
import { readFailure } from './failure.js';

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

test.each(['with', 'before'])(
  'rows that were re-imported by a plan which died %s its journal go to the next plan once it is abandoned',
  async (when) => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', `${people(3)}Nobody,n/a\n`);
    writeJob(workspace, 'Hi {{ name }}');
    const { summary } = await workspace.run();
    const rejections = workspace.read(`${workspace.runOf(summary.plan)}/1-sms.rejections.csv`);
    workspace.write('people-2.csv', rejections.replaceAll('n/a', numberOf(4)));
    const run = await dieAsItBegins(workspace, summary.plan);
    if (when === 'before') rmSync(workspace.path(`${workspace.runOf(run)}/journal.ndjson`));

    const abandoned = JSON.parse((await workspace.volley('abandon', `out/sale/${run}`)).stdout);

    expect(abandoned).toMatchObject({ state: 'abandoned', filesAreFree: true });
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, accepted: 1 });
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(4));
  },
);
