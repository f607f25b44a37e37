import { expect } from 'vitest';
import { people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';

/** Twelve people had "Hi P1" … from job `sale`; then the export has grown by one. */
export async function aGrownExport(changes: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await aJobFor(people(12), changes);
  expect((await workspace.run()).code).toBe(0);
  workspace.write('people.csv', people(13));
  return workspace;
}
