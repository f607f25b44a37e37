import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { anSmsStep, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';
import { aJobOfAreas, ledgerOf } from './area-jobs.js';

test.concurrent('the campaign is paused before the first message and runs again after the last; plan, status and report tell of it', async () => {
  const workspace = await aWindow(30);
  const plan = await workspace.volley('plan', 'job.yaml', '--no-json');
  expect(plan.stdout).toMatch(/^ {2}1 campaign +campaign 101: set PAUSED$/m);

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expect(workspace.requests().map(({ area, method }) => `${area} ${method}`)).toEqual([
    ...['campaign GET', 'campaign POST'],
    ...['sms POST', 'sms POST', 'sms POST'],
    ...['campaign GET', 'campaign POST'],
  ]);
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
  for (const verb of ['status', 'report']) {
    const { stdout } = await workspace.volley(verb, summary.directory, '--no-json');
    expect(stdout).toMatch(/^ {2}1 campaign +campaign 101 went from RUNNING to PAUSED$/m);
    expect(stdout).toMatch(/^ {2}3 campaign +campaign 101 went from PAUSED to RUNNING$/m);
  }
});

test.concurrent('killed while it sends, the next run finds the campaign paused, sends the rest, and lets it resume', async () => {
  const workspace = await aWindow(30, { kind: 'stall-after', area: 'sms', nth: 2 });
  // Two of the campaign come first.
  await killAfter(4, workspace, 'run', 'job.yaml');
  expect(await changesOf(workspace)).toEqual(['PAUSED']);
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect(code).toBe(3);
  expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 10 });
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
});

test.concurrent('a campaign that is not as expected stops the run with exit code 4 before anything is changed or sent', async () => {
  const workspace = await aWindow(10);
  workspace.writeJob(aWindowJob(workspace, { first: { expect: 'PAUSED' }, last: { expect: 'PAUSED' } }));

  const { code, summary } = await workspace.run();

  expect([code, summary.stop?.reason]).toEqual([4, 'refused']);
  expect(summary.steps[0]?.action).toMatchObject({ status: 'rejected', code: 'not-as-expected' });
  expect(workspace.requests().filter(({ method }) => method === 'POST')).toEqual([]);
  expect(summary.balance).toMatchObject({ read: 10, unprocessed: 10 });
});

/** Pause, send to so many people in requests of ten, let it go on. */
async function aWindow(count: number, ...faults: FaultInput[]): Promise<Workspace> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(count));
  workspace.writeJob(aWindowJob(workspace));
  return workspace;
}

function aWindowJob(workspace: Workspace, { first, last }: { first?: object; last?: object } = {}): object {
  return aJobOfAreas(workspace, [
    { kind: 'campaign', campaign: 101, set: 'PAUSED', ...first },
    anSmsStep(),
    { kind: 'campaign', campaign: 101, set: 'RUNNING', always: true, ...last },
  ]);
}

async function changesOf(workspace: Workspace): Promise<(string | null)[]> {
  return (await ledgerOf(workspace, 'campaign')).map(({ requested }) => requested);
}
