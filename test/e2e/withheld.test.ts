import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A plan of 30 rows in batches of 10, with P30 on the suppression list. */
async function aPlannedRun(...faults: Parameters<typeof aWorkspace>): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(30));
  workspace.write('stop.csv', `mobile\n${numberOf(30)}\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] }));
  await workspace.volley('plan', 'job.yaml');
  return { workspace, run: workspace.runOf(workspace.plans()[0] ?? '') };
}

test('a number that is put on a suppression list after planning gets nothing, and its row says so; a retry goes to who is on none any more', async () => {
  const { workspace, run } = await aPlannedRun();
  workspace.append('stop.csv', `${numberOf(3)}\n${numberOf(17)}\n`);

  const { code, stdout } = await workspace.volley('apply', run);

  const summary = JSON.parse(stdout);
  expect([code, summary.balance]).toEqual([
    0,
    { read: 30, accepted: 27, rejected: 0, skipped: 1, inDoubt: 0, unprocessed: 2 },
  ]);
  expect(summary.steps[0].withheld).toEqual({ 'opted-out': 2 });
  expect(await workspace.destinations()).toEqual(
    numbersOf(29).filter((number) => number !== numberOf(3) && number !== numberOf(17)),
  );
  const unprocessed = workspace.read(`${run}/1-sms.unprocessed.csv`);
  expect(unprocessed).toContain('opted-out,The number came onto the list stop.csv after the plan was made,');

  workspace.write('stop.csv', `mobile\n${numberOf(3)}\n`);
  const retried = await workspace.volley('retry', run, '--only', 'unprocessed');
  const { directory, steps } = JSON.parse(retried.stdout);
  expect(steps[0].skips).toEqual({ suppressed: 1 });
  await workspace.volley('apply', directory);
  expect(await workspace.destinations()).toEqual(numbersOf(29).filter((number) => number !== numberOf(3)));
});

test('and nothing in mid-run, once its line is there: what has left has left', async () => {
  const { workspace, run } = await aPlannedRun({ kind: 'latency', delayMs: 1500, area: 'sms', nth: 2 });
  const running = workspace.start(['apply', run]);
  await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(2);
  workspace.append('stop.csv', `${numberOf(2)}\n${numberOf(12)}\n${numberOf(22)}\n${numberOf(29)}\n`);
  const { code, summary } = await workspace.finish(running);
  expect([code, summary.balance.unprocessed]).toEqual([0, 2]);
  expect(await workspace.destinations()).toEqual(
    numbersOf(29).filter((number) => number !== numberOf(22) && number !== numberOf(29)),
  );
});

test('a list that can no longer be read stops the run before anything is sent; put back, the same command sends', async () => {
  const { workspace, run } = await aPlannedRun();
  const list = workspace.read('stop.csv');
  rmSync(workspace.path('stop.csv'));

  const { error, exitCode } = readFailure(await workspace.volley('apply', run));

  expect([exitCode, error.problems.map(({ file }) => file)]).toEqual([2, ['stop.csv']]);
  expect(workspace.requests()).toEqual([]);
  workspace.write('stop.csv', list);
  expect((await workspace.volley('apply', run)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(29));
});
