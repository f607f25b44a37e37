import { rmSync } from 'node:fs';
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

test('rows of an abandoned retry are retried no more once the run that they come from is gone, and what its receipts showed', async () => {
  const workspace = await aWorkspace({ kind: 'reset-after', area: 'sms', nth: 1 });
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace));
  const { summary } = await workspace.run();
  const run = workspace.runOf(summary.plan);
  const inDoubt = String(summary.balance.inDoubt);
  expect((await workspace.volley('settle', run, '--assume', 'not-sent', '--confirm', inDoubt)).code).toBe(0);
  const retried = JSON.parse((await workspace.volley('retry', run, '--only', 'not-sent')).stdout);
  expect((await workspace.volley('abandon', retried.directory)).code).toBe(0);
  const sent = await workspace.destinations();
  rmSync(workspace.path(run), { recursive: true });

  const again = readFailure(await workspace.volley('retry', retried.directory, '--only', 'unprocessed'));

  expect(again.error).toMatchObject({
    code: 'plan-mismatch',
    message: expect.stringContaining(`run ${summary.plan} is gone, and with it what delivery receipts show`),
  });
  expect(await workspace.destinations()).toEqual(sent);
});
