import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readOpenDoubt } from '../../src/registry/read-runs.js';
import type { OpenDoubt } from '../../src/report/summary.js';
import { nodeFiles } from '../../src/storage/files.js';
import { anSmsStep, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { until } from './command.js';

const INBOX = anSmsStep({ input: { files: 'in/*.csv' } });

/** A job that takes what lies in its inbox, and a night whose second request of ten rows lost its answer. */
async function aNightInDoubt(changes: object = {}) {
  const workspace = await aWorkspace({ kind: 'reset-after', nth: 2 });
  workspace.write('in/monday.csv', people(30));
  const writeJob = (more: object = {}) => workspace.change({ steps: [INBOX], ...changes, ...more });
  writeJob();
  const { code, summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 10 });
  return { workspace, writeJob, code, monday: summary };
}

type QueryResult = { state: string; exitCode: number; openDoubt: OpenDoubt };

/** Exit code, and what the JSON says of rows in doubt. */
async function ask(workspace: Workspace, ...args: string[]) {
  const { code, stdout } = await workspace.volley(...args);
  const { state, exitCode, openDoubt } = JSON.parse(stdout) as QueryResult;
  return { code, state, exitCode, openDoubt };
}

describe.concurrent('rows in doubt of earlier runs', () => {
  test('end nothing new, and a run that accepts all, as failOn says', async () => {
    const { workspace, writeJob } = await aNightInDoubt();
    for (const [at, [failOn, expected]] of (
      [
        ['in-doubt', 3],
        ['nothing', 0],
      ] as const
    ).entries()) {
      writeJob({ failOn });
      const idle = await ask(workspace, 'run', 'job.yaml');
      workspace.write(`in/night-${at}.csv`, people(5, 101 + 5 * at));
      const all = await ask(workspace, 'run', 'job.yaml');

      const said = [failOn, expected, expected, 10];
      expect([failOn, idle.code, idle.exitCode, idle.openDoubt.rows]).toEqual(said);
      expect([failOn, all.code, all.exitCode, all.openDoubt.rows]).toEqual(said);
    }
  });
});

describe.concurrent('the figure of rows in doubt', () => {
  const read = (workspace: Workspace, isRunning = false) =>
    readOpenDoubt(nodeFiles, workspace.path('out/sale'), { isSandbox: false, isRunning });

  test('comes from the journal where there is no summary, or one of a run that had not ended', async () => {
    const { workspace, monday } = await aNightInDoubt();
    const path = `${workspace.runOf(monday.plan)}/summary.json`;
    const summary = workspace.read(path);
    const stale = { ...JSON.parse(summary), state: 'stopped', balance: { ...monday.balance, inDoubt: 0 } };

    for (const text of [undefined, '', '{', 'null', '{"state":"finished"}', JSON.stringify(stale)]) {
      if (text === undefined) rmSync(workspace.path(path));
      else workspace.write(path, text);
      expect((await read(workspace)).rows, text).toBe(10);
    }
  });

  test('counts what was under way when a process died, and not what is under way now', async () => {
    const workspace = await aJobFor(people(30), {}, { kind: 'latency', delayMs: 60_000, nth: 2 });
    const running = workspace.start(['run', 'job.yaml']);
    await until(() => workspace.requests().length === 2);

    expect(await read(workspace, true)).toEqual({ rows: 0, runs: [] });
    running.signal('SIGKILL');
    await running.ended;
    expect((await read(workspace)).runs).toMatchObject([{ inDoubt: 10 }]);
    // As its outputs would say.
    const [run] = workspace.runs();
    const balance = { inDoubt: 10, unprocessed: 10 };
    const status = await workspace.told('status', `out/sale/${run}`);
    expect(status.steps).toMatchObject([{ withWorkers: 0, balance }]);
    expect((await workspace.told('runs', 'job.yaml')).runs).toMatchObject([{ balance }]);
    expect(await workspace.told('report', `out/sale/${run}`)).toMatchObject({ balance });
  });

  test('is unknown, and not zero, for a run that cannot be read', async () => {
    const { workspace, monday } = await aNightInDoubt();
    const path = `${workspace.runOf(monday.plan)}/plan.json`;
    workspace.write(path, workspace.read(path).slice(0, 100));

    expect(await read(workspace)).toMatchObject({ rows: 0, runs: [{ run: monday.plan, inDoubt: null }] });
  });
});
