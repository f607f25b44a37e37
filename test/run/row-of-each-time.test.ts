import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { anSmsStep, numberOf } from '../e2e/a-job.js';
import { aJobFor, type Workspace } from '../e2e/a-workspace.js';
import { readOutput } from '../e2e/account.js';

/** The job sends all of its files each time, and rows of P2 and P4 come back each time: P4 is left out, and would get the message of P2. */
async function aJobThatRepeats() {
  const workspace = await aJobFor(`name,mobile,ok\nP1,${numberOf(1)},y\nP2,n/a,y\nP4,n/a,y\n`);
  const read = (input: object) =>
    workspace.change({ repeat: 'always', steps: [anSmsStep({ input: { files: '*.csv', ...input } })] });
  read({ where: { ok: 'y' } });
  const first = await workspace.told('run', 'job.yaml');
  const rejections = readFileSync(`${first.directory}/1-sms.rejections.csv`, 'utf8');
  workspace.write('fixed.csv', rejections.replace('n/a', numberOf(2)).replace('n/a,y', `${numberOf(2)},n`));
  return { workspace, read, first, again: () => workspace.told('run', 'job.yaml') };
}

async function countCampaign(workspace: Workspace, { directory }: { directory: string }) {
  return (await workspace.told('report', directory, '--campaign')).balance;
}

it('a row that comes back each time is of each of these runs: the campaign counts what all have sent', async () => {
  const { workspace, first, again } = await aJobThatRepeats();
  const runs = [first, await again(), await again(), await again()];

  for (const run of runs) expect((await countCampaign(workspace, run)).accepted).toBe(7);
  expect((await workspace.sms()).length).toBe(7);
});

it('a row that comes back each time is retried for a time, and compared with what that time sent', async () => {
  const { workspace, read, again } = await aJobThatRepeats();
  const second = await again();
  await again();
  read({});

  const told = await workspace.retry(second.directory, 'filtered', '--job', 'job.yaml');

  expect(told).toMatchObject({ state: 'planned', steps: [{ counts: { read: 1, planned: 0, skipped: 1 } }] });
  await workspace.told('apply', told.directory);
  expect(readOutput(await workspace.told('report', told.directory), 1, 'skipped')[0]).toMatchObject({
    _code: 'duplicate',
    name: 'P4',
  });
});
