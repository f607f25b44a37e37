import { expect, test } from 'vitest';
import { readPlan } from '../../src/plan/format/plan-file.js';
import { findRelated } from '../../src/registry/report-campaign.js';
import { readLeft } from '../../src/retry/left-rows.js';
import { nodeFiles } from '../../src/storage/files.js';
import { anSmsStep, numberOf, people } from '../e2e/a-job.js';
import { aJobFor, OTHER_ACCOUNT } from '../e2e/a-workspace.js';
import { rejectionsOf } from '../e2e/account.js';

test('a row that one account has fixed is left to fix for another, which read the same file', async () => {
  const steps = [anSmsStep({ input: { files: '*.csv' } })];
  const workspace = await aJobFor(people(3), { steps }, { kind: 'reject-rows', endingWith: '002' });
  workspace.change({ steps, service: { account: OTHER_ACCOUNT.account } }, 'other.yaml');
  const own = await workspace.told('run', 'job.yaml');
  const others = await workspace.told('run', 'other.yaml');
  workspace.setFaults();
  workspace.write('fixed.csv', rejectionsOf(own.directory).replace('P2', 'Pia'));
  const fixed = await workspace.told('run', 'job.yaml');

  expect(await Promise.all([own, fixed, others].map(countLeft))).toEqual([0, 0, 1]);
});

test('a plan that was never sent belongs to the run whose rows it has: what it lacks is left to fix', async () => {
  const steps = [anSmsStep({ input: { files: '*.csv' } })];
  const workspace = await aJobFor(`${people(1)}P2,n/a\nP3,n/a\n`, { steps });
  const { directory } = await workspace.told('run', 'job.yaml');
  const fixed = rejectionsOf(directory)
    .replace('n/a', numberOf(2))
    .replace(/^P3.*\n/m, '');
  workspace.write('fixed.csv', fixed);
  const plan = await workspace.told('plan', 'job.yaml');

  expect(await Promise.all([{ directory }, plan].map(countLeft))).toEqual([2, 1]);
});

async function countLeft({ directory }: { directory: string }): Promise<number> {
  const related = await findRelated(nodeFiles, { directory, plan: await readPlan(nodeFiles, directory) });
  let count = 0;
  for await (const rows of readLeft(nodeFiles, related, [])) count += rows.length;
  return count;
}
