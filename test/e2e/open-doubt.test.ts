import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOpenDoubt } from '../../src/registry/read-runs.js';
import { nodeFiles } from '../../src/storage/files.js';
import { anSmsStep, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { linesOf } from './log-lines.js';
import { aStoppedRun } from './some-runs.js';

/** A night whose second request of ten rows lost its answer. */
async function aNightInDoubt() {
  const workspace = await aJobFor(people(30), {}, { kind: 'reset-after', nth: 2 });
  const { summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 10 });
  return { workspace, night: summary, run: workspace.firstRun() };
}

const readDoubt = (workspace: Workspace, isRunning = false) =>
  readOpenDoubt(nodeFiles, workspace.path('out/sale'), { isSandbox: false, isRunning });

test('rows in doubt of an earlier run are named by every command of its job, and keep its exit code at 3, until they are settled', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'reset-after', nth: 2 });
  const run = () => workspace.told('run', 'job.yaml');
  const monday = await run();
  const { directory, plan } = monday;
  const openDoubt = { rows: 10, runs: [{ run: plan, directory, inDoubt: 10 }] };
  expect(monday).toMatchObject({ exitCode: 3, openDoubt });

  const idle = { exitCode: 3, state: 'nothing-new', openDoubt };
  expect(await run()).toMatchObject(idle);
  expect(await workspace.told('plan', 'job.yaml')).toMatchObject({ ...idle, exitCode: 0 });
  workspace.write('people.csv', people(5, 101));
  expect(await run()).toMatchObject({ exitCode: 3, balance: { accepted: 5, inDoubt: 0 }, openDoubt });
  // Of a job that is the newest run: it has none itself.
  const settle = ['settle', 'job.yaml', '--receipts'];
  expect(await workspace.told(...settle)).toMatchObject({ exitCode: 0, inDoubt: 0, openDoubt });
  const settled = await workspace.volley(...settle, '--no-json');
  expect(settled.stdout).toContain(`10 rows of run ${plan}: `);
  expect(settled.stderr).toContain(`settled 0 rows; 10 rows of other runs still in doubt (${plan})`);
  // As failOn says.
  workspace.change({ failOn: 'nothing' });
  expect(await run()).toMatchObject({ ...idle, exitCode: 0 });
  workspace.write('people.csv', people(5, 111));
  expect(await run()).toMatchObject({ exitCode: 0, balance: { accepted: 5 }, openDoubt });
  workspace.change();
  // The journal says it where no summary does.
  rmSync(join(directory, 'summary.json'));
  expect(await run()).toMatchObject({ exitCode: 3, openDoubt });

  expect((await workspace.settle(directory, 'sent', 10)).code).toBe(0);
  expect(await run()).toMatchObject({ ...idle, exitCode: 0, openDoubt: { rows: 0, runs: [] } });
});

test('the last line of the log begins with what its exit code is about, also of the run that it finished first, and says what to do', async () => {
  const files = { input: { files: ['*.csv'] } };
  const faults = [{ kind: 'reset-after', nth: 2 } as const, { kind: 'status-401', nth: 3 } as const];
  const workspace = await aJobFor(`${people(30)}call me,x\n`, { steps: [anSmsStep(files)] }, ...faults);
  const end = async () => linesOf((await workspace.run()).stderr).at(-1);

  const stopped = await end();
  expect(stopped?.reason).toContain('; 10 of 31 rows accepted, 10 rows in doubt, 10 rows not sent');
  expect(stopped?.hint).toMatch(/^Check that key or token, .*: \S.* run job\.yaml$/);
  workspace.write('tuesday.csv', people(5, 101));

  const resumed = await end();
  const run = String(stopped?.run);
  expect(resumed?.reason).toContain(
    `run ${run} is finished; 10 rows in doubt; 1 of 31 numbers could not be used (placeholder 1); run ${resumed?.run} is finished: every row`,
  );
  expect(resumed?.hint).toMatch(/^10 rows in doubt may or may not .*: \S.* settle \S+ --export messages\.csv$/);
  expect(resumed).toMatchObject({ exitCode: 3, accepted: 5, openDoubt: 10 });

  const idle = await end();
  expect(idle).toMatchObject({ exitCode: 3, reason: `nothing new; 10 rows of other runs still in doubt (${run})` });
  expect(idle?.hint).toMatch(/^See what settles them: \S.* status \S+$/);
});

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
