import { expect } from 'vitest';
import { people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aJobFor, type Workspace } from './a-workspace.js';

/** A run of 30 rows in batches of 10 that died while its second request was under way. */
export async function aStoppedRun(): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aJobFor(people(30), {}, { kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 });
  await killAfter(2, workspace, 'run', 'job.yaml');
  return { workspace, run: workspace.runs()[0] ?? '' };
}

/** The same rows, ten of them in doubt as well, of a run that a wrong key stopped: it ended in order, in this process. */
export async function aRunThatEndedEarly(): Promise<{ workspace: Workspace; run: string }> {
  const faults = [
    { kind: 'reset-before', area: 'sms', nth: 2 },
    { kind: 'status-401', area: 'sms', nth: 3 },
  ] as const;
  const workspace = await aJobFor(people(30), {}, ...faults);
  expect((await workspace.run()).code).toBe(4);
  return { workspace, run: workspace.runs()[0] ?? '' };
}

/** Twelve people had "Hi P1" … from job `sale`; then the export has grown by one. */
export async function aGrownExport(): Promise<Workspace> {
  const workspace = await aJobFor(people(12));
  expect((await workspace.run()).code).toBe(0);
  workspace.write('people.csv', people(13));
  return workspace;
}
