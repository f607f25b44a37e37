import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memoryIn, removeMemory } from '../registry/memory-on-disk.js';
import { aJob, anSmsStep, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const prune = (workspace: Workspace, ...flags: string[]) => pruneOlder(workspace, '0h', ...flags);

const pruneOlder = async (workspace: Workspace, age: string, ...flags: string[]) => {
  const { code, stdout, stderr } = await workspace.volley('prune', 'job.yaml', '--older-than', age, ...flags);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

/** A finished run in which the service refused some rows, and the plan one. */
async function aFinishedRun() {
  const workspace = await aJobFor(`${people(20)}Nobody,n/a\n`);
  workspace.setFaults({ kind: 'reject-rows', nth: 1, rows: 0.3 });
  const { summary } = await workspace.run();
  workspace.setFaults();
  const rejections = workspace.read(`${workspace.runOf(summary.plan)}/1-sms.rejections.csv`);
  expect(summary.balance.rejected).toBeGreaterThan(1);
  return { workspace, run: summary.plan, rejections, sent: await workspace.destinations() };
}

test('prune deletes what people said and who they are, and keeps figures and ids', async () => {
  const { workspace, run } = await aFinishedRun();
  const dry = await prune(workspace, '--dry-run');
  expect(dry).toMatchObject({ state: 'dry-run', pruned: [{ run }] });
  expect(readdirSync(workspace.path(workspace.runOf(run))).length).toBeGreaterThan(8);

  const end = await prune(workspace);

  expect(end).toMatchObject({ state: 'pruned', bytes: dry.bytes, pruned: [{ run, bytes: dry.bytes }], skipped: [] });
  expect(readdirSync(workspace.path(workspace.runOf(run))).sort()).toEqual(['run.json', 'summary.json']);
  const directory = workspace.runOf(run);
  const memory = memoryIn(workspace.path('out/sale'));
  for (const path of [workspace.path(`${directory}/summary.json`), workspace.path(`${directory}/run.json`), memory]) {
    expect(readFileSync(path, 'utf8')).not.toMatch(/\+65|Person|n\/a/);
  }
  expect(await prune(workspace)).toMatchObject({ state: 'nothing-to-prune', pruned: [], skipped: [] });
  const { runs } = JSON.parse((await workspace.volley('runs', 'job.yaml')).stdout);
  expect(runs).toMatchObject([{ run, state: 'pruned', balance: { read: 21 }, files: ['people.csv'] }]);
});

test('nothing of a pruned run is sent again: not its file, not its rejections, not by way of a lost memory', async () => {
  const { workspace, run, rejections, sent } = await aFinishedRun();
  await prune(workspace);

  expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');
  workspace.write('people-2.csv', rejections.replaceAll('n/a', '+6591239999'));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: ['people*.csv'] } })] }));
  const fed = await workspace.run();
  expect(fed.summary.steps[0]?.rejections).toEqual({ 'bad-id': fed.summary.balance.read });
  expect(workspace.read(`${workspace.runOf(fed.summary.plan)}/1-sms.rejections.csv`)).toContain(
    `run ${run} was pruned on`,
  );
  removeMemory(workspace.path('out/sale'));
  expect(JSON.parse((await workspace.volley('run', 'job.yaml', '--adopt')).stdout).state).toBe('nothing-new');

  expect(await workspace.destinations()).toEqual(sent);
});

test('what a pruned run cannot do any more is refused, and says why', async () => {
  const { workspace, run } = await aFinishedRun();
  await prune(workspace);

  for (const args of [
    ['retry', '--only', 'rejected'],
    ['settle', '--assume', 'sent', '--confirm', '1'],
    ['report'],
    ['apply'],
    ['status'],
    ['preview'],
  ]) {
    const [verb = '', ...flags] = args;
    const { error, exitCode } = readFailure(await workspace.volley(verb, `out/sale/${run}`, ...flags));
    expect([verb, exitCode, error.code]).toEqual([verb, 2, 'bad-plan']);
    expect(error.message).toMatch(/were pruned on \d{4}-\d\d-\d\d by .+/);
  }
});

test('runs in doubt, unfinished, young, among the last, or whose rows a plan has, stay', async () => {
  const { workspace, run } = await aFinishedRun();
  const retry = JSON.parse((await workspace.volley('retry', `out/sale/${run}`, '--only', 'rejected')).stdout).plan;
  const reasonOf = (end: { skipped: { run: string; reason: string }[] }, of: string) =>
    end.skipped.find((each) => each.run === of)?.reason;

  const waiting = await prune(workspace);
  expect(waiting.pruned).toEqual([]);
  expect(reasonOf(waiting, run)).toBe(`plan ${retry} has rows of it, and is not pruned`);
  expect(reasonOf(waiting, retry)).toBe('it was never applied');

  workspace.setFaults({ kind: 'reset-after', nth: 1 });
  await workspace.volley('apply', `out/sale/${retry}`);
  expect(reasonOf(await prune(workspace), retry)).toMatch(/in doubt: see volley settle/);
  const count = JSON.parse((await workspace.volley('status', `out/sale/${retry}`)).stdout).openDoubt.rows;
  await workspace.volley('settle', `out/sale/${retry}`, '--assume', 'sent', '--confirm', String(count));
  expect(await pruneOlder(workspace, '1d')).toMatchObject({ pruned: [], kept: 2 });
  expect(await prune(workspace, '--keep-last', '1')).toMatchObject({ pruned: [], kept: 1 });

  expect((await prune(workspace)).pruned).toMatchObject([{ run: retry }, { run }]);
});
