import { expect } from 'vitest';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

/** Numbers of those who look at a test. */
export const [MINE, YOURS] = ['+6598000001', '+6598000002'];

/** A job of some people, in a workspace of its own. */
export async function aJobOf(changes: Parameters<typeof aJob>[1] = {}, rows = people(30)): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('people.csv', rows);
  workspace.writeJob(aJob(workspace, changes));
  return workspace;
}

export async function planJobOf(workspace: Workspace): Promise<{ readonly id: string; readonly directory: string }> {
  const { code, stdout, stderr } = await workspace.volley('plan', 'job.yaml');
  expect(code, stderr).toBe(0);
  const { plan: id, directory } = JSON.parse(stdout);
  return { id, directory };
}
