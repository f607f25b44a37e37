import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

/** A finished run, one with rows in doubt, and a plan. */
async function aHistory() {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace));
  const first = (await workspace.run()).summary.plan;
  workspace.write('people.csv', people(20, 100));
  workspace.setFaults({ kind: 'reset-after', nth: 1 });
  const second = (await workspace.run()).summary.plan;
  workspace.setFaults();
  workspace.write('people.csv', people(20, 200));
  const planned = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout).plan;
  return { workspace, first, second, planned };
}

test('runs lists plans and runs, the newest first, with what became of their rows', async () => {
  const { workspace, first, second, planned } = await aHistory();

  for (const named of ['job.yaml', 'out/sale', 'out']) {
    const { code, stdout } = await workspace.volley('runs', named);
    const { runs, ...about } = JSON.parse(stdout);
    expect([code, about]).toEqual([0, { state: 'listed', exitCode: 0, error: null }]);
    expect(runs).toMatchObject([
      { job: 'sale', run: planned, state: 'planned', startedAt: null, exitCode: null, balance: { unprocessed: 20 } },
      { run: second, state: 'finished', exitCode: 3, balance: { read: 20, inDoubt: 10 }, files: ['people.csv'] },
      { run: first, state: 'finished', exitCode: 0, balance: { accepted: 20 }, retryOf: null, problem: null },
    ]);
    expect(runs[2].bytes).toBeGreaterThan(1000);
    expect(Date.parse(runs[2].endedAt)).toBeGreaterThanOrEqual(Date.parse(runs[2].startedAt));
  }
  expect(JSON.parse((await workspace.volley('status', 'job.yaml')).stdout).plan).toBe(planned);
});

test('a run whose directory is gone is listed with what the memory knows, a damaged one with what is wrong', async () => {
  const { workspace, first, second } = await aHistory();
  rmSync(workspace.path(workspace.runOf(first)), { recursive: true });
  workspace.write(`${workspace.runOf(second)}/plan.json`, '{}');

  const runs = JSON.parse((await workspace.volley('runs', 'job.yaml')).stdout).runs as { run: string }[];

  expect(runs.find(({ run }) => run === first)).toMatchObject({
    ...{ state: 'gone', exitCode: 0, bytes: 0, balance: { read: 20, accepted: 20 }, files: ['people.csv'] },
  });
  expect(runs.find(({ run }) => run === second)).toMatchObject({
    ...{ state: 'unreadable', problem: expect.stringContaining('checksum') },
  });
});

test('the table fits 80 columns, and names each run and its files', async () => {
  const { workspace, first, second } = await aHistory();

  const { stdout } = await workspace.volley('runs', 'job.yaml', '--no-json');

  const lines = stdout.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(stdout).toMatch(/^Job sale: 3 runs\n/);
  expect(lines.filter((line) => line.includes(first))).toEqual([expect.stringMatching(/people\.csv$/)]);
  expect(lines[lines.findIndex((line) => line.includes(second)) - 1]).toMatch(/ finished +3 +10 +– +10 +– /);
});
