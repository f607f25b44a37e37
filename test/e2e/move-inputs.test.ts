import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { oneIn } from '../one-in.js';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aDiskOf, deathOf } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, volleyIn, type Workspace } from './a-workspace.js';

const INPUT = { files: 'inbox/*.csv', whenDone: { moveTo: 'sent/' } };

async function anInboxJob(changes: object = {}): Promise<Workspace> {
  const workspace = await aWorkspace();
  mkdirSync(workspace.path('inbox'));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: INPUT })], ...changes }));
  return workspace;
}

function listed(workspace: Workspace, directory: string): string[] {
  return existsSync(workspace.path(directory)) ? readdirSync(workspace.path(directory)).sort() : [];
}

test('files that a finished run took are moved; a file of the same name keeps both', async () => {
  const workspace = await anInboxJob();
  workspace.write('inbox/monday.csv', people(2));
  workspace.write('inbox/notes.txt', 'not of the job');
  const { code, stderr } = await workspace.run();
  expect([code, listed(workspace, 'inbox'), listed(workspace, 'sent')]).toEqual([0, ['notes.txt'], ['monday.csv']]);
  expect(stderr).toContain('moved 1 input file');

  workspace.write('inbox/monday.csv', people(2, 10));
  await workspace.run();
  expect(listed(workspace, 'sent')).toEqual(['monday-2.csv', 'monday.csv']);
  expect(workspace.read('sent/monday.csv')).toBe(people(2));
  expect(workspace.read('sent/monday-2.csv')).toBe(people(2, 10));
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2, 10)]);
  // Nothing came: the inbox may be empty.
  expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');
});

test('apply moves what its plan took, and no test of a plan does', async () => {
  const workspace = await anInboxJob();
  workspace.write('inbox/monday.csv', people(2));
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  workspace.write('inbox/tuesday.csv', people(2, 10));
  expect((await workspace.volley('test', directory, '--to', numbersOf(1, 500)[0] ?? '')).code).toBe(0);
  expect(listed(workspace, 'inbox')).toEqual(['monday.csv', 'tuesday.csv']);
  expect((await workspace.volley('apply', directory)).code).toBe(0);
  expect([listed(workspace, 'inbox'), listed(workspace, 'sent')]).toEqual([['tuesday.csv'], ['monday.csv']]);
});

test('nothing is moved before every run is finished; then the file that two steps read is moved once', async () => {
  const workspace = await anInboxJob();
  const steps = [aContactsStep({ input: INPUT }), anSmsStep({ input: INPUT })];
  workspace.writeJob(aJob(workspace, { steps }));
  workspace.write('inbox/monday.csv', people(2));
  workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 1 });
  expect((await workspace.run()).code).toBe(4);
  expect(listed(workspace, 'inbox')).toEqual(['monday.csv']);

  workspace.setFaults();
  expect((await workspace.run()).code).toBe(0);
  expect([listed(workspace, 'inbox'), listed(workspace, 'sent')]).toEqual([[], ['monday.csv']]);
});

test('a file whose content is not what was sent any more stays, and is sent by the next run', async () => {
  const workspace = await anInboxJob();
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'inbox/*.csv' } })] }));
  workspace.write('inbox/export.csv', people(2));
  expect((await workspace.run()).code).toBe(0);
  workspace.write('inbox/export.csv', people(2, 10));
  workspace.write('inbox/broken.csv', 'name,mobile\n"never ends');
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: INPUT })] }));
  expect((await workspace.run()).code).toBe(2);
  expect(listed(workspace, 'inbox')).toEqual(['broken.csv', 'export.csv']);

  workspace.write('inbox/broken.csv', people(1, 20));
  expect((await workspace.run()).code).toBe(0);
  expect([listed(workspace, 'inbox'), listed(workspace, 'sent')]).toEqual([[], ['broken.csv', 'export.csv']]);
  expect(workspace.read('sent/export.csv')).toBe(people(2, 10));
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2, 10), ...numbersOf(1, 20)]);
});

test('what cannot be moved is one warning and no failure; a later run moves it, also to another directory', async () => {
  const workspace = await anInboxJob();
  workspace.write('sent', 'a file, where the directory should be');
  workspace.write('inbox/monday.csv', people(2));
  workspace.write('inbox/tuesday.csv', people(2, 10));
  const { code, stderr } = await workspace.run();
  expect([code, listed(workspace, 'inbox')]).toEqual([0, ['monday.csv', 'tuesday.csv']]);
  expect(stderr.match(/"level":40/g)).toHaveLength(1);
  expect(stderr).toContain('Cannot move input files (whenDone.moveTo): inbox/monday.csv (ENOTDIR), and 1 other');

  const input = { ...INPUT, whenDone: { moveTo: 'done/of/2026' } };
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input })] }));
  const again = await workspace.run();
  expect([again.code, JSON.parse(again.stdout).state]).toEqual([0, 'nothing-new']);
  expect([listed(workspace, 'inbox'), listed(workspace, 'done/of/2026')]).toEqual([[], ['monday.csv', 'tuesday.csv']]);
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2, 10)]);
});

test('suppression lists, and what a run wrote, are never moved', async () => {
  const workspace = await anInboxJob();
  workspace.write('inbox/people.csv', `${people(2)}Nobody,12\n`);
  workspace.write('inbox/stop.csv', people(1, 2));
  const step = (files: string | string[]) =>
    anSmsStep({ input: { ...INPUT, files }, suppress: { files: 'inbox/stop.csv' } });
  workspace.writeJob(aJob(workspace, { steps: [step(['inbox/people.csv'])] }));
  const { code, summary } = await workspace.run();
  expect([code, listed(workspace, 'inbox')]).toEqual([1, ['stop.csv']]);

  const [run] = workspace.runs();
  const rejections = `out/sale/${run}/1-sms.rejections.csv`;
  workspace.write(rejections, workspace.read(rejections).replace(',12', `,${numbersOf(1, 9)[0]}`));
  workspace.writeJob(aJob(workspace, { steps: [step(rejections)] }));
  const fixed = await workspace.run();
  expect([fixed.code, fixed.summary.balance.accepted, summary.balance.accepted]).toEqual([0, 1, 1]);
  expect(listed(workspace, `out/sale/${run}`)).toContain('1-sms.rejections.csv');
});

/** No process has it: its lock is that of one that died. */
const GONE = 2 ** 31 - 1;
/** The last has the name of the first, which was sent and moved before. */
const FILES = { 'inbox/monday.csv': people(2, 10), 'inbox/tuesday.csv': people(2, 20), 'sent/monday.csv': people(1) };

/** A run on a disk on which nothing is done any more from its n-th operation on; that one, if it writes, is half done. */
async function runUntil(workspace: Workspace, deathAt: number): Promise<string[]> {
  const seen: string[] = [];
  const disk = aDiskOf(async (name, act, tear) => {
    seen.push(name);
    if (seen.length === deathAt) await tear?.();
    if (seen.length >= deathAt) throw deathOf(name);
    return act();
  });
  const owner = { ...nodeEnv.owner, pid: GONE };
  await volleyIn(workspace, { runtime: { files: disk.files, owner } }, 'run', 'job.yaml');
  await disk.close();
  return seen;
}

async function aFullInbox(): Promise<Workspace> {
  const workspace = await anInboxJob();
  for (const [name, text] of Object.entries(FILES)) workspace.write(name, text);
  return workspace;
}

/** What lies in a directory; a name that was reserved for a file may be left, empty. */
const textsIn = (workspace: Workspace, directory: string) =>
  listed(workspace, directory)
    .map((name) => workspace.read(`${directory}/${name}`))
    .filter((text) => text !== '')
    .sort();

test('a run that dies at any operation by which it moves loses no file: the next one moves all that is sent, and sends nothing twice', async () => {
  const whole = await runUntil(await aFullInbox(), Number.POSITIVE_INFINITY);
  const isMove = (name: string) => name.startsWith('rename') && name.includes('/inbox/');
  expect(whole.filter(isMove)).toHaveLength(2);
  const from = whole.findLastIndex((name) => name.startsWith('rename') && name.includes('/memory-'));
  const operations = whole.slice(from, whole.findLastIndex(isMove) + 6).map((_, index) => from + 1 + index);
  const all = Object.values(FILES).sort();

  for (const deathAt of oneIn(4, operations)) {
    const where = `operation ${deathAt}, ${whole[deathAt - 1]}`;
    const workspace = await aFullInbox();
    await runUntil(workspace, deathAt);
    expect([...textsIn(workspace, 'inbox'), ...textsIn(workspace, 'sent')].sort(), where).toEqual(all);
    expect((await workspace.run()).code, where).toBe(0);
    expect([textsIn(workspace, 'inbox'), textsIn(workspace, 'sent')], where).toEqual([[], all]);
    expect(await workspace.destinations(), where).toEqual([...numbersOf(2, 10), ...numbersOf(2, 20)]);
  }
});
