import { expect, test } from 'vitest';
import { aJob, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

const MINE = '+6598000001';

test('a test that was killed is resumed by the same command, and sends nothing twice', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(30));
  workspace.writeJob(aJob(workspace));
  workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 });
  const args = ['test', 'job.yaml', '--to', MINE, '--count', '20'];
  await killAfter(2, workspace, ...args);
  workspace.setFaults();

  const ran = await workspace.run();
  expect([ran.code, ran.summary.balance.accepted, ran.stdout.includes('"earlier"')]).toEqual([0, 30, false]);

  const again = await workspace.volley(...args);
  expect(again.code).toBe(3);
  expect(again.summary.balance).toMatchObject({ read: 20, accepted: 10, inDoubt: 10 });
  expect(workspace.requests().filter(({ path }) => path.includes('batch'))).toHaveLength(2 + 3);
});
