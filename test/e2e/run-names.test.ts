import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aRunThatEndedEarly } from './a-stopped-run.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const NAME = /^\d{4}-\d\d-\d\dT\d{4}-[0-9a-z]{12}$/;

const objectOf = async (workspace: Workspace, ...args: string[]) =>
  JSON.parse((await workspace.volley(...args)).stdout);

describe('a run directory', () => {
  test('is named for when it was planned and for its plan; planned again it is the same one, whatever the time', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace));
    const { plan, directory } = await objectOf(workspace, 'plan', 'job.yaml');
    expect(workspace.runs()).toEqual([expect.stringMatching(NAME)]);
    expect(directory).toBe(workspace.path(workspace.runOf(plan)));
    const earlier = `2020-02-29T2359-${plan}`;
    renameSync(directory, workspace.path(`out/sale/${earlier}`));

    expect((await objectOf(workspace, 'plan', 'job.yaml')).directory).toBe(workspace.path(`out/sale/${earlier}`));
    expect((await workspace.run()).summary).toMatchObject({ plan, directory: workspace.path(`out/sale/${earlier}`) });
    expect(workspace.runs()).toEqual([earlier]);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });
});

test('two directories that end in one plan id are refused by every command that uses the run, until one is gone', async () => {
  const { workspace, run } = await aRunThatEndedEarly();
  const plan = readRunName(run);
  const others = [plan, `2020-02-29T2359-${plan}`];
  mkdirSync(workspace.path('away'));
  for (const other of others) {
    const copy = `out/sale/${other}`;
    cpSync(workspace.path(`out/sale/${run}`), workspace.path(copy), { recursive: true });
    for (const [verb, ...args] of [
      ['run', 'job.yaml'],
      ['plan', 'job.yaml'],
      ['apply', copy],
      ['apply', `out/sale/${run}`],
      ['status', copy],
      ['retry', copy, '--only', 'unprocessed'],
    ]) {
      const { exitCode, error } = readFailure(await workspace.volley(verb ?? '', ...args));
      expect([exitCode, error.code], `${verb}: ${error.message}`).toEqual([2, 'bad-plan']);
      expect(error.message).toContain(`Cannot use run ${plan}: `);
      expect(error.message).toContain(run);
      expect(error.message).toContain(other);
    }
    const { runs } = await objectOf(workspace, 'runs', 'job.yaml');
    expect(runs).toHaveLength(2);
    renameSync(workspace.path(copy), workspace.path(`away/${other}`));
  }
  expect(workspace.requests()).toHaveLength(3);
  expect((await workspace.run()).code).toBe(3);
});
