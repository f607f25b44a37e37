import { existsSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { aContactsStep, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { runUntil } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

const INPUT = { files: 'inbox/*.csv', whenDone: { moveTo: 'sent/' } };

function listed(workspace: Workspace, directory: string): string[] {
  return existsSync(workspace.path(directory)) ? readdirSync(workspace.path(directory)).sort() : [];
}

/** A job that moves what it has sent, and what its inbox has. */
async function anInboxJob(files: Readonly<Record<string, string>> = { 'inbox/monday.csv': people(2) }) {
  const workspace = await aWorkspace();
  for (const [name, text] of Object.entries(files)) workspace.write(name, text);
  workspace.change({ steps: [anSmsStep({ input: INPUT })] });
  return workspace;
}

/** What lies in the inbox, and what was moved. */
const expectFiles = (workspace: Workspace, inbox: readonly string[], sent: readonly string[], to = 'sent') =>
  expect([listed(workspace, 'inbox'), listed(workspace, to)]).toEqual([inbox, sent]);

test('files that a finished run took are moved; a file of the same name keeps both', async () => {
  const workspace = await anInboxJob({ 'inbox/monday.csv': people(2), 'inbox/notes.txt': 'not of the job' });
  const { code, stderr } = await workspace.run();
  expect([code, stderr]).toEqual([0, expect.stringContaining('moved 1 input file')]);
  expectFiles(workspace, ['notes.txt'], ['monday.csv']);

  workspace.write('inbox/monday.csv', people(2, 10));
  await workspace.run();
  expectFiles(workspace, ['notes.txt'], ['monday-2.csv', 'monday.csv']);
  expect([workspace.read('sent/monday.csv'), workspace.read('sent/monday-2.csv')]).toEqual([people(2), people(2, 10)]);
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2, 10)]);
  // Nothing came: the inbox may be empty, and there is nothing to send again.
  const idle = (await workspace.volley('run', 'job.yaml', '--no-json')).stdout;
  expect(idle).toContain('Nothing new for job');
  expect(idle).not.toContain('--again');
  // It is moved, as it was sent: --again finds it no more.
  workspace.write('inbox/monday.csv', people(2));
  expect((await workspace.volley('run', 'job.yaml', '--no-json')).stdout).toContain(
    'also to those who had them, move them back from whenDone.moveTo, then: ',
  );
});

test('a packed file whose name is taken keeps both of its endings, by which it would be read', async () => {
  const workspace = await anInboxJob({});
  workspace.change({ steps: [anSmsStep({ input: { ...INPUT, files: 'inbox/*' } })] });
  for (const first of [0, 10]) {
    workspace.write('inbox/monday.csv.gz', gzipSync(people(2, first)));
    await workspace.run();
  }
  expectFiles(workspace, [], ['monday-2.csv.gz', 'monday.csv.gz']);
});

test('what was moved is no input any more, also where the pattern matches it there: a job that is repeated would send it each time', async () => {
  const workspace = await anInboxJob();
  const input = { files: 'inbox/**/*.csv', whenDone: { moveTo: 'inbox/sent' } };
  workspace.change({ repeat: 'always', steps: [anSmsStep({ input })] });
  expect((await workspace.run()).code).toBe(0);
  workspace.write('inbox/sent-late.csv', people(1, 10));
  const { code, stderr } = await workspace.run();
  const expected = [0, expect.stringMatching(/skipped: inbox\/sent\/monday.csv was already sent by run/)];
  expect([code, stderr]).toEqual(expected);
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(1, 10)]);
});

test.each(['inbox', '.'])(
  'files that no run took are sent, also where they lie below the directory to move to: %s',
  async (moveTo) => {
    const workspace = await anInboxJob();
    workspace.change({ steps: [anSmsStep({ input: { files: 'inbox/*.csv', whenDone: { moveTo } } })] });
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(2));
  },
);

test('apply moves what its plan took, and no test of a plan does', async () => {
  const workspace = await anInboxJob();
  const directory = await workspace.plan();
  workspace.write('inbox/tuesday.csv', people(2, 10));
  expect((await workspace.volley('test', directory, '--to', numberOf(500))).code).toBe(0);
  expectFiles(workspace, ['monday.csv', 'tuesday.csv'], []);
  expect((await workspace.volley('apply', directory)).code).toBe(0);
  expectFiles(workspace, ['tuesday.csv'], ['monday.csv']);
});

test('nothing is moved before every run is finished; then the file that two steps read is moved once', async () => {
  const workspace = await anInboxJob();
  workspace.change({ steps: [aContactsStep({ input: INPUT }), anSmsStep({ input: INPUT })] });
  workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 1 });
  expect((await workspace.run()).code).toBe(4);
  expectFiles(workspace, ['monday.csv'], []);

  expect((await workspace.run()).code).toBe(0);
  expectFiles(workspace, [], ['monday.csv']);
});

test('a file whose content is not what was sent any more stays, and is sent by the next run', async () => {
  const workspace = await anInboxJob({ 'inbox/export.csv': people(2) });
  workspace.change({ steps: [anSmsStep({ input: { files: 'inbox/*.csv' } })] });
  expect((await workspace.run()).code).toBe(0);
  workspace.write('inbox/export.csv', people(2, 10));
  workspace.write('inbox/broken.csv', 'name,mobile\n"never ends');
  workspace.change({ steps: [anSmsStep({ input: INPUT })] });
  expect((await workspace.run()).code).toBe(2);
  expectFiles(workspace, ['broken.csv', 'export.csv'], []);

  workspace.write('inbox/broken.csv', people(1, 20));
  expect((await workspace.run()).code).toBe(0);
  expectFiles(workspace, [], ['broken.csv', 'export.csv']);
  expect(workspace.read('sent/export.csv')).toBe(people(2, 10));
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2, 10), ...numbersOf(1, 20)]);
});

test('what a step took is moved to where that step says by now, though another one was put before it', async () => {
  const workspace = await anInboxJob();
  workspace.change({ steps: [anSmsStep({ input: { files: INPUT.files } })] });
  await workspace.run();
  const input = { files: 'vip/*.csv', whenDone: { moveTo: 'vip/sent/' } };
  const before = anSmsStep({ input, template: { text: 'VIP' } });
  workspace.write('vip/one.csv', people(1, 50));
  workspace.change({ steps: [before, anSmsStep({ input: INPUT })] });
  await workspace.run();
  expectFiles(workspace, [], ['monday.csv']);
  expect(listed(workspace, 'vip/sent')).toEqual(['one.csv']);
});

test('what cannot be moved is one warning and no failure; a later run moves it, also to another directory', async () => {
  const workspace = await anInboxJob({
    ...{ 'inbox/monday.csv': people(2), 'inbox/tuesday.csv': people(2, 10) },
    sent: 'a file, where the directory should be',
  });
  const { code, stderr } = await workspace.run();
  expect([code, listed(workspace, 'inbox')]).toEqual([0, ['monday.csv', 'tuesday.csv']]);
  expect(stderr.match(/"level":40/g)).toHaveLength(1);
  expect(stderr).toContain('Cannot move input files (whenDone.moveTo): inbox/monday.csv (ENOTDIR), and 1 other');
  expect(stderr).toContain('they are not sent again');
  workspace.change({ repeat: 'per-day', steps: [anSmsStep({ input: INPUT })] });
  expect((await workspace.run()).stderr).toContain('they are sent again as repeat: per-day says');
  workspace.change({ steps: [anSmsStep({ input: INPUT })] });

  workspace.change({ steps: [anSmsStep({ input: { ...INPUT, whenDone: { moveTo: 'done/of/2026' } } })] });
  expect(await workspace.told('run', 'job.yaml')).toMatchObject({ exitCode: 0, state: 'nothing-new' });
  expectFiles(workspace, [], ['monday.csv', 'tuesday.csv'], 'done/of/2026');
  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2, 10)]);
});

test('suppression lists, and what a run wrote, are never moved', async () => {
  const workspace = await anInboxJob({ 'inbox/people.csv': `${people(2)}Nobody,12\n`, 'inbox/stop.csv': people(1, 2) });
  const read = (files: string) =>
    workspace.change({ steps: [anSmsStep({ input: { ...INPUT, files }, suppress: { files: 'inbox/stop.csv' } })] });
  read('inbox/people.csv');
  expect((await workspace.run()).summary).toMatchObject({ exitCode: 1, balance: { accepted: 1 } });
  expect(listed(workspace, 'inbox')).toEqual(['stop.csv']);

  const run = workspace.firstRun();
  const rejections = `${run}/1-sms.rejections.csv`;
  workspace.write(rejections, workspace.read(rejections).replace(',12', `,${numberOf(9)}`));
  read(rejections);
  expect((await workspace.run()).summary).toMatchObject({ exitCode: 0, balance: { accepted: 1 } });
  expect(listed(workspace, run)).toContain('1-sms.rejections.csv');
});

/** The last has the name of the first, which was sent and moved before. */
const FILES = { 'inbox/monday.csv': people(2, 10), 'inbox/tuesday.csv': people(2, 20), 'sent/monday.csv': people(1) };

/** What lies in a directory; a name that was reserved for a file may be left, empty. */
const textsIn = (workspace: Workspace, directory: string) =>
  listed(workspace, directory)
    .map((name) => workspace.read(`${directory}/${name}`))
    .filter((text) => text !== '')
    .sort();

test('a run that dies at any operation by which it moves loses no file: the next one moves all that is sent, and sends nothing twice', async () => {
  const whole = await runUntil(() => false, await anInboxJob(FILES), 'run', 'job.yaml');
  const isMove = (name: string) => name.startsWith('rename') && name.includes('/inbox/');
  expect(whole.filter(isMove)).toHaveLength(2);
  const from = whole.findLastIndex((name) => name.startsWith('rename') && name.includes('/memory-'));
  const operations = whole.slice(from, whole.findLastIndex(isMove) + 6).map((_, index) => from + 1 + index);
  const all = Object.values(FILES).sort();

  for (const deathAt of oneIn(4, operations)) {
    const where = `operation ${deathAt}, ${whole[deathAt - 1]}`;
    const workspace = await anInboxJob(FILES);
    await runUntil((_, count) => count === deathAt, workspace, 'run', 'job.yaml');
    expect([...textsIn(workspace, 'inbox'), ...textsIn(workspace, 'sent')].sort(), where).toEqual(all);
    expect((await workspace.run()).code, where).toBe(0);
    expect([textsIn(workspace, 'inbox'), textsIn(workspace, 'sent')], where).toEqual([[], all]);
    expect(await workspace.destinations(), where).toEqual([...numbersOf(2, 10), ...numbersOf(2, 20)]);
  }
});
