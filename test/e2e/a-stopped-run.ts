import { expect } from 'vitest';
import { aJob, anSmsStep, ONE_BY_ONE, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

/** A run of 30 rows in batches of 10 that died while its second request was under way. */
export async function aStoppedRun(): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aJobFor(
    people(30),
    { steps: [anSmsStep({ limits: ONE_BY_ONE })] },
    { kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 },
  );
  await killAfter(2, workspace, 'run', 'job.yaml');
  workspace.setFaults();
  return { workspace, run: workspace.runs()[0] ?? '' };
}

/** The same rows, ten of them in doubt as well, of a run that a wrong key stopped: it ended in order, in this process. */
export async function aRunThatEndedEarly(): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspace(
    { kind: 'reset-before', area: 'sms', nth: 2 },
    { kind: 'status-401', area: 'sms', nth: 3 },
  );
  workspace.write('people.csv', people(30));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits: ONE_BY_ONE })] }));
  expect((await workspace.run()).code).toBe(4);
  workspace.setFaults();
  return { workspace, run: workspace.runs()[0] ?? '' };
}
