import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readOpenDoubt } from '../../src/registry/read-runs.js';
import { nodeFiles } from '../../src/storage/files.js';
import { people } from './a-job.js';
import { aStoppedRun } from './a-stopped-run.js';
import { aJobFor, type Workspace } from './a-workspace.js';

/** A night whose second request of ten rows lost its answer. */
async function aNightInDoubt() {
  const workspace = await aJobFor(people(30), {}, { kind: 'reset-after', nth: 2 });
  const { summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 10 });
  return { workspace, night: summary, run: workspace.firstRun() };
}

const readDoubt = (workspace: Workspace, isRunning = false) =>
  readOpenDoubt(nodeFiles, workspace.path('out/sale'), { isSandbox: false, isRunning });

test.each([
  ['in-doubt', 3],
  ['nothing', 0],
])(
  'rows in doubt of earlier runs end nothing new, and a run that accepts all, as failOn says: %s',
  async (failOn, exitCode) => {
    const { workspace } = await aNightInDoubt();
    workspace.change({ failOn });
    for (const told of [{ state: 'nothing-new' }, { state: 'finished' }]) {
      expect(await workspace.told('run', 'job.yaml')).toMatchObject({ ...told, exitCode, openDoubt: { rows: 10 } });
      workspace.write('people.csv', people(5, 101));
    }
  },
);

test('the figure of rows in doubt comes from the journal where there is no summary, or one of a run that had not ended', async () => {
  const { workspace, night, run } = await aNightInDoubt();
  const path = `${run}/summary.json`;
  const stale = { ...JSON.parse(workspace.read(path)), state: 'stopped', balance: { ...night.balance, inDoubt: 0 } };

  rmSync(workspace.path(path));
  expect((await readDoubt(workspace)).rows).toBe(10);
  for (const text of ['', '{', 'null', '{"state":"finished"}', JSON.stringify(stale)]) {
    workspace.write(path, text);
    expect((await readDoubt(workspace)).rows, text).toBe(10);
  }
});

test('it counts what was under way when a process died, as the outputs would say, and not what is under way now', async () => {
  const { workspace } = await aStoppedRun();
  expect(await readDoubt(workspace, true)).toEqual({ rows: 0, runs: [] });
  expect((await readDoubt(workspace)).runs).toMatchObject([{ inDoubt: 10 }]);
  const run = workspace.firstRun();
  const balance = { inDoubt: 10, unprocessed: 10 };
  expect((await workspace.told('status', run)).steps).toMatchObject([{ withWorkers: 0, balance }]);
  expect((await workspace.told('runs', 'job.yaml')).runs).toMatchObject([{ balance }]);
  expect(await workspace.told('report', run)).toMatchObject({ balance });
});

test('it is unknown, and not zero, for a run that cannot be read', async () => {
  const { workspace, night, run } = await aNightInDoubt();
  const path = `${run}/plan.json`;
  workspace.write(path, workspace.read(path).slice(0, 100));
  expect(await readDoubt(workspace)).toMatchObject({ rows: 0, runs: [{ run: night.plan, inDoubt: null }] });
});
