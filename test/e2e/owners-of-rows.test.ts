import { renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { removeMemory } from '../registry/memory-on-disk.js';
import { aContactsStep, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { rejectionsOf } from './account.js';

const IN = { input: { files: '*.csv' } };
const REFUSE_P2 = { kind: 'reject-rows', endingWith: '002' } as const;
const run = (workspace: Workspace) => workspace.told('run', 'job.yaml');

/** The service refuses P2 in the first run, and again in the second, which has it from the rejections of the first. */
async function aRowRefusedTwice() {
  const workspace = await aJobFor(people(3), { steps: [anSmsStep(IN)] }, REFUSE_P2);
  const rejections = rejectionsOf((await run(workspace)).directory);
  workspace.write('fixed.csv', rejections.replace('P2', 'Pia'));
  const second: string = (await run(workspace)).directory;
  return { workspace, second, rejections };
}

/** The rejections of the first run come once more, in a file that is another one. */
async function feedAgain(workspace: Workspace, rejections: string) {
  workspace.write('late.csv', rejections.replace('P2', 'Peter'));
  return (await run(workspace)).balance;
}

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

/** Contacts refused P2, who is fixed. */
async function aContactRefused() {
  const workspace = await aJobFor(people(2), { steps: [aContactsStep(IN)] }, REFUSE_P2);
  const { directory } = await run(workspace);
  workspace.setFaults();
  return { workspace, fixed: rejectionsOf(directory, '1-contacts').replace('P2', 'Pia') };
}

it.each([
  { what: 'there', isGone: false, end: { skipped: 1 } },
  { what: 'gone', isGone: true, end: { rejected: 1 } },
])('a row that contacts refused is not sent where another run has its file for SMS, which is $what', async (told) => {
  const { workspace, fixed } = await aContactRefused();
  workspace.change({ steps: [anSmsStep(IN)] });
  const sent = await run(workspace);
  expect(sent.balance).toMatchObject({ accepted: 2 });
  if (told.isGone) rmSync(sent.directory, { recursive: true });

  workspace.write('fixed.csv', fixed);

  expect((await run(workspace)).balance).toMatchObject({ accepted: 0, ...told.end });
  expect(await workspace.destinations()).toEqual(numbersOf(2));
});
