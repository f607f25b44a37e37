import { utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const HOUR_S = 3600;

async function aNightlyJob(input: object): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('inbox/monday.csv', people(3));
  const step = anSmsStep({ input: { files: ['inbox/*.csv'], country: 'SG', ...input } });
  workspace.writeJob(aJob(workspace, { steps: [step] }));
  return workspace;
}

/** Its file was written so long ago. */
function age(workspace: Workspace, name: string, hours: number): void {
  const at = Date.now() / 1000 - hours * HOUR_S;
  utimesSync(workspace.path(name), at, at);
}

describe.concurrent('an export that did not come', () => {
  test('is a failure where the input is required; nothing is sent, and once it comes it is', async () => {
    const workspace = await aNightlyJob({ required: true });
    expect((await workspace.run()).code).toBe(0);

    for (const command of ['run', 'plan']) {
      const { error } = readFailure(await workspace.volley(command, 'job.yaml'));
      expect([error.code, error.message]).toEqual([
        'missing-input',
        expect.stringMatching(
          /no file is new, expected one \(input\.required\): inbox\/monday\.csv was already sent by run/,
        ),
      ]);
    }
    workspace.write('inbox/tuesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
  });

  test('is no failure to the command that finishes the run which took it', async () => {
    const workspace = await aNightlyJob({ required: true });
    const planned = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
    workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 1 });
    expect((await workspace.volley('apply', planned.directory)).code).toBe(4);
    workspace.setFaults();
    const { code, summary } = await workspace.run();
    expect([code, summary.plan, summary.balance.accepted]).toEqual([0, planned.plan, 3]);
  });

  test('is a failure where the newest file is too old, taken or not, and none where one is young enough', async () => {
    const workspace = await aNightlyJob({ newerThan: '26h' });
    age(workspace, 'inbox/monday.csv', 27);
    const { error } = readFailure(await workspace.run());
    expect([error.code, error.message]).toEqual([
      'missing-input',
      expect.stringContaining(
        'its newest file, inbox/monday.csv, is 27 h old, expected 26 h at most (input.newerThan)',
      ),
    ]);
    expect(await workspace.destinations()).toEqual([]);

    workspace.write('inbox/tuesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
    // The same again: what came is taken.
    expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');
    age(workspace, 'inbox/tuesday.csv', 30);
    expect(readFailure(await workspace.run()).error.code).toBe('missing-input');
  });
});

test('an inbox of many files that were sent costs one line', async () => {
  const workspace = await aNightlyJob({});
  for (let day = 0; day < 40; day++) workspace.write(`inbox/day-${day}.csv`, people(1, 100 + day));
  expect((await workspace.run()).code).toBe(0);
  const { stdout, stderr } = await workspace.run('--no-json');
  expect(stdout).toMatch(/Nothing new .*\n {2}41 files are skipped, the last of them since .* was already sent by run/);
  expect(stderr.match(/already sent/g)).toHaveLength(1);
});
