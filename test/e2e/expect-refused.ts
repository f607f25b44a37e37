import { expect } from 'vitest';
import type { Workspace } from './a-workspace.js';

/** Refused with 4 before anything is sent, with a sentence that says what is wrong, and what to do. */
export async function expectRefused(
  workspace: Workspace,
  args: readonly string[],
  why: string,
  hint = '--adopt',
): Promise<void> {
  const before = workspace.requests().length;
  const { error, exitCode } = await workspace.refused(...args);
  expect([exitCode, error.code]).toEqual([4, 'registry-mismatch']);
  expect(JSON.stringify(error)).toContain(why);
  expect(error.hint).toContain(hint);
  expect(workspace.requests()).toHaveLength(before);
}
