import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import type { Ended } from './command.js';
import { readFailure } from './failure.js';

export const PEOPLE = 60;

/** A job that sends sixty messages, three requests at once. */
export async function aJobOf(step: object): Promise<Workspace> {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 5 });
  workspace.write('people.csv', people(PEOPLE));
  const limits = { requestsPerSecond: 1000, concurrency: 3 };
  // Without a connection nothing is sent, and this long it is tried.
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits, ...step })], service: { giveUpAfterSeconds: 1 } }));
  return workspace;
}

/** The path that it is about is named. */
export function expectDiskError(ended: Ended, error: string, exitCode = 75): void {
  expect(readFailure(ended)).toMatchObject({ exitCode, error: { code: error } });
  expect(ended.stderr).toMatch(new RegExp(`Cannot [a-z ]+ /.*\\(${error}, `, 'm'));
}

/** What the service took has an intent in the journal. */
export async function expectOnlyIntended(workspace: Workspace): Promise<void> {
  const [run = ''] = workspace.runs();
  const path = `out/sale/${run}/journal.ndjson`;
  const lines = run !== '' && existsSync(workspace.path(path)) ? workspace.read(path).split('\n').slice(0, -1) : [];
  const numbers = numbersOf(PEOPLE);
  const intended = lines.flatMap((line) => {
    const entry = JSON.parse(line);
    return entry.type === 'intent' ? numbers.slice(entry.rows[0], entry.rows[0] + entry.rows[1]) : [];
  });
  const sent = await workspace.destinations();
  expect(sent.filter((number) => !intended.includes(number))).toEqual([]);
}

/** Each person gets one message, no more and no fewer, save those whose outcome could not be written. */
export async function expectFinishes(workspace: Workspace): Promise<{ requests: number }> {
  const before = workspace.requests().length;
  const { code, summary } = await workspace.run();
  expectEveryRowOnce(summary);
  expect([summary.state, code]).toEqual(['finished', summary.balance.inDoubt > 0 ? 3 : 0]);
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
  const accepted = readOutput(summary, 1, 'results').map((row) => row.mobile ?? '');
  const inDoubt = readOutput(summary, 1, 'in-doubt').map((row) => row.mobile ?? '');
  expect([...accepted, ...inDoubt].sort()).toEqual(numbersOf(PEOPLE));
  expect(accepted.filter((number) => !sent.includes(number))).toEqual([]);
  // Of three requests at once of two rows, or one.
  expect(inDoubt.length).toBeLessThanOrEqual(6);
  return { requests: workspace.requests().length - before };
}
