import { readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aDiskOf, deathOf } from '../e2e/a-mortal-command.js';
import { aJobFor, volleyIn, type Workspace } from '../e2e/a-workspace.js';
import { removeMemory } from '../registry/memory-on-disk.js';

const IN = { input: { files: '*.csv' } };

/** The service refuses P2 in the first run, and again in the second, which has it from the rejections of the first. */
async function aRowRefusedTwice() {
  const workspace = await aJobFor(people(3), { steps: [anSmsStep(IN)] }, { kind: 'reject-rows', endingWith: '002' });
  const first: string = (await workspace.told('run', 'job.yaml')).directory;
  const rejections = readFileSync(`${first}/1-sms.rejections.csv`, 'utf8');
  workspace.write('fixed.csv', rejections.replace('P2', 'Pia'));
  const second: string = (await workspace.told('run', 'job.yaml')).directory;
  return { workspace, first, second, rejections };
}

/** The rejections of the first run come once more, in a file that is another one. */
async function feedAgain(workspace: Workspace, rejections: string) {
  workspace.write('late.csv', rejections.replace('P2', 'Peter'));
  const { balance } = await workspace.told('run', 'job.yaml');
  return balance;
}

it('a row is of the plan that claimed it last, also where its process died before the memory knew of it', async () => {
  const { workspace, second, rejections } = await aRowRefusedTwice();
  let isDead = false;
  const { files, close } = aDiskOf(async (name, act) => {
    isDead ||= /^rename .*memory-/.test(name);
    if (isDead) throw deathOf(name);
    return act();
  });
  const runtime = { files, owner: { ...nodeEnv.owner, pid: 2 ** 31 - 1 } };
  await volleyIn(workspace, { runtime }, 'retry', second, '--only', 'rejected');
  await close();
  expect(isDead).toBe(true);
  workspace.setFaults();
  expect(await workspace.resend(second, 'rejected')).toMatchObject({ code: 0 });

  expect(await feedAgain(workspace, rejections)).toMatchObject({ accepted: 0, skipped: 1 });

  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

it('a row is of the plan that claimed it last, also where the memory is made anew from runs of one minute', async () => {
  const { workspace, second, rejections } = await aRowRefusedTwice();
  workspace.setFaults();
  const { directory: third } = await workspace.retry(second, 'rejected');
  await workspace.told('apply', third);
  // Names of one minute are in the order of their ids: this one may be the first.
  renameSync(third, join(dirname(third), `2026-01-01T0000-${readRunName(basename(third))}`));
  const job = workspace.path('out/sale');
  removeMemory(job);
  rmSync(`${job}/claims`, { recursive: true });
  expect(await workspace.told('run', 'job.yaml', '--adopt')).toMatchObject({ state: 'nothing-new' });

  expect(await feedAgain(workspace, rejections)).toMatchObject({ accepted: 0, skipped: 1 });

  expect(await workspace.destinations()).toEqual(numbersOf(3));
});
