import { expect } from 'vitest';
import type { Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** Refused with 4 before anything is sent, with a sentence that says what is wrong. */
export async function expectRefused(workspace: Workspace, args: readonly string[], why: string): Promise<void> {
  const before = workspace.requests().length;
  const { error, exitCode } = readFailure(await workspace.volley(...args));
  expect([exitCode, error.code]).toEqual([4, 'registry-mismatch']);
  expect(JSON.stringify(error)).toContain(why);
  expect(error.hint).toContain('--adopt');
  expect(workspace.requests()).toHaveLength(before);
}
