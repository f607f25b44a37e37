import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';
import { aJobOfAreas, ledgerOf } from './area-jobs.js';
import { until } from './command.js';

test.concurrent('the campaign is paused before the first message and runs again after the last', async () => {
  const workspace = await aWindow(30);

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expect(workspace.requests().map(({ area, method }) => `${area} ${method}`)).toEqual([
    'campaign GET',
    'campaign POST',
    'sms POST',
    'sms POST',
    'sms POST',
    'campaign GET',
    'campaign POST',
  ]);
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
  expect(summary.steps.map(({ action }) => action?.code ?? null)).toEqual(['PAUSED', null, 'RUNNING']);
});

test.concurrent('killed while it sends, the next run finds the campaign paused, sends the rest, and lets it resume', async () => {
  const workspace = await aWindow(30, { kind: 'stall-after', area: 'sms', nth: 2 });
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => countSms(workspace) === 2);
  running.signal('SIGKILL');
  await running.ended;
  expect(await changesOf(workspace)).toEqual(['PAUSED']);
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect(code).toBe(3);
  expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 10 });
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
});

test.concurrent('a guard that stops the run does not keep the campaign from going on', async () => {
  const workspace = await aWindow(150, { kind: 'reject-rows', rows: 1, area: 'sms' });

  const { code, summary } = await workspace.run();

  expect(code).toBe(4);
  expect(summary.stop?.reason).toBe('guard');
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
});

describe.concurrent('before anything is changed or sent', () => {
  test.each([
    ['a stopped campaign', 104, {}, 'impossible-change'],
    ['one that is not as expected', 101, { expect: 'PAUSED' }, 'not-as-expected'],
    ['one that is not there', 999, {}, 'http-404'],
  ])('%s stops the run, with exit code 4', async (_, campaign, first, actionCode) => {
    const workspace = await aWindow(10);
    workspace.writeJob(aWindowJob(workspace, { campaign, first, last: { expect: 'PAUSED', always: true } }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(4);
    expect(summary.stop?.reason).toBe('refused');
    expect(summary.steps[0]?.action).toMatchObject({ status: 'rejected', code: actionCode });
    expect(workspace.requests().filter(({ method }) => method === 'POST')).toEqual([]);
    expect(summary.balance).toMatchObject({ read: 10, unprocessed: 10 });
  });
});

test.concurrent('plan, status and report tell of steps without rows what they do and did', async () => {
  const workspace = await aWindow(10);

  const plan = await workspace.volley('plan', 'job.yaml', '--no-json');
  expect(plan.stdout).toMatch(/^ {2}1 campaign +campaign 101: set PAUSED$/m);
  const { summary } = await workspace.run();
  const status = await workspace.volley('status', summary.directory, '--no-json');
  const report = await workspace.volley('report', summary.directory, '--no-json');

  expect(status.stdout).toMatch(/^ {2}1 campaign +campaign 101 went from RUNNING to PAUSED$/m);
  expect(report.stdout).toMatch(/^ {2}1 campaign +campaign 101 went from RUNNING to PAUSED$/m);
  expect(report.stdout).toMatch(/^ {2}3 campaign +campaign 101 went from PAUSED to RUNNING$/m);
});

/** Pause, send to so many people in requests of ten, let it go on. */
async function aWindow(count: number, ...faults: FaultInput[]): Promise<Workspace> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(count));
  workspace.writeJob(aWindowJob(workspace));
  return workspace;
}

function aWindowJob(
  workspace: Workspace,
  { campaign = 101, first, last }: { campaign?: number; first?: object; last?: object } = {},
): object {
  return aJobOfAreas(
    workspace,
    [
      { kind: 'campaign', campaign, set: 'PAUSED', ...first },
      anSmsStep(),
      { kind: 'campaign', campaign, set: 'RUNNING', always: true, ...last },
    ],
    { guards: { maxFailedPercent: 20 } },
  );
}

async function changesOf(workspace: Workspace): Promise<(string | null)[]> {
  return (await ledgerOf(workspace, 'campaign')).map(({ requested }) => requested);
}

function countSms(workspace: Workspace): number {
  return workspace.requests().filter(({ area }) => area === 'sms').length;
}
