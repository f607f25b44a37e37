import { expect, test } from 'vitest';
import { readPlan } from '../../src/plan/format/plan-file.js';
import { findRelated, readLeft } from '../../src/retry/left-rows.js';
import { nodeFiles } from '../../src/storage/files.js';
import { anSmsStep, people } from '../e2e/a-job.js';
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
  const countLeft = async ({ directory }: { directory: string }) => {
    const related = await findRelated(nodeFiles, { directory, plan: await readPlan(nodeFiles, directory) });
    let count = 0;
    for await (const rows of readLeft(nodeFiles, related, [])) count += rows.length;
    return count;
  };

  expect(await Promise.all([own, fixed, others].map(countLeft))).toEqual([0, 0, 1]);
});
