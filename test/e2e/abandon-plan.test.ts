import { expect, test } from 'vitest';
import { aJob, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readFailure } from './failure.js';

test('a plan that was abandoned before it was sent had taken nothing: its files are planned anew, and sent once', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace));
  const { plan } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);

  const { stdout } = await workspace.volley('abandon', `out/sale/${plan}`);

  expect(JSON.parse(stdout)).toMatchObject({ state: 'abandoned', filesAreFree: true, balance: { unprocessed: 3 } });
  const retry = await workspace.volley('retry', `out/sale/${plan}`, '--only', 'unprocessed');
  expect(readFailure(retry).error.message).toMatch(/was never applied$/);
  const { summary } = await workspace.run();
  expect(summary.plan).not.toBe(plan);
  const applied = readFailure(await workspace.volley('apply', `out/sale/${plan}`));
  expect(applied).toMatchObject({ exitCode: 2, error: { message: expect.stringContaining('was abandoned on') } });
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});
