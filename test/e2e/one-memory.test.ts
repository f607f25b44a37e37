import {
  chmodSync,
  cpSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { readMemoryIn, removeMemory } from '../registry/memory-on-disk.js';
import { aStepForTomorrow, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { aStoppedRun } from './some-runs.js';

async function expectEachOnce(workspace: Workspace, count?: number): Promise<void> {
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
  if (count !== undefined) expect(sent).toHaveLength(count);
}

const RUN = ['run', 'job.yaml'];

/** Refused with 4 before anything is sent, with a sentence that says what is wrong, and what to do. */
async function expectRefused(workspace: Workspace, args: readonly string[], why: string, hint = '--adopt') {
  const before = workspace.requests().length;
  const error = await workspace.expectRefused(args, 4, 'registry-mismatch');
  expect(JSON.stringify(error)).toContain(why);
  expect(error.hint).toContain(hint);
  expect(workspace.requests()).toHaveLength(before);
  const [verb, job = ''] = args;
  if (verb !== 'run') return;
  const names = listFiles(workspace.directory);
  const status = await workspace.told('status', job);
  // It says nothing at all of a run that is a copy, or lost its journal.
  if (status.error === null) expect(status.refusal).toEqual(error);
  else expect(JSON.stringify(status.error)).toContain(why);
  expect(listFiles(workspace.directory)).toEqual(names);
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** A run of a hundred people, scheduled for tomorrow, that came to its end; what `pathOf` names was copied to `backup` in the middle of it. */
async function aRunWithBackup(pathOf: (workspace: Workspace) => string): Promise<Workspace> {
  const steps = [aStepForTomorrow()];
  const workspace = await aJobFor(people(100), { steps }, { kind: 'latency', delayMs: 500, area: 'sms', nth: 4 });
  const running = workspace.run();
  await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(4);
  const copied = { recursive: true, preserveTimestamps: true };
  cpSync(workspace.path(pathOf(workspace)), workspace.path('backup'), copied);
  expect((await running).code).toBe(0);
  return workspace;
}

test('a directory that is taken away in mid-run ends the run with 4: the same command would send all of it again', async () => {
  const workspace = await aJobFor(people(100), {}, { kind: 'latency', delayMs: 500, nth: 3 });
  const running = workspace.run();
  await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
  renameSync(workspace.path('out'), workspace.path('elsewhere'));
  const { code, stdout } = await running;
  expect(code).toBe(4);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'registry-mismatch',
    message: expect.stringContaining('is gone, or its lock file'),
    hint: expect.stringContaining('Put it back before the job runs again'),
  });

  renameSync(workspace.path('elsewhere'), workspace.path('out'));
  expect((await workspace.run()).summary.balance).toMatchObject({ read: 100, unprocessed: 0 });
  await expectEachOnce(workspace);
});

describe('a directory that is not as volley left it', () => {
  test('is refused where the whole output was copied; the original resumes', async () => {
    const { workspace } = await aStoppedRun();
    cpSync(workspace.path('out'), workspace.path('copy'), { recursive: true });
    workspace.writeJob({ ...JSON.parse(workspace.read('job.yaml')), output: 'copy' }, 'copied.yaml');
    await expectRefused(workspace, ['run', 'copied.yaml'], 'it is a copy of');
    expect((await workspace.run()).code).toBe(3);
    await expectEachOnce(workspace);
  });

  test('is refused where an old backup was put back in its place, until a person adopts it', async () => {
    const { workspace, run } = await aStoppedRun();
    cpSync(workspace.path('out'), workspace.path('bak'), { recursive: true, preserveTimestamps: true });
    expect((await workspace.run()).code).toBe(3);
    rmSync(workspace.path('out'), { recursive: true });
    renameSync(workspace.path('bak'), workspace.path('out'));
    for (const args of [
      RUN,
      ['settle', `out/sale/${run}`, '--assume', 'sent', '--confirm', '10'],
      ['retry', `out/sale/${run}`, '--only', 'unprocessed'],
    ]) {
      await expectRefused(workspace, args, 'it is a copy of');
    }
    await expectEachOnce(workspace);

    const adopted = await workspace.run('--adopt');
    expect([adopted.code, adopted.stderr]).toEqual([3, expect.stringContaining('is adopted by')]);
    const adoption = { by: expect.stringMatching(/./), at: expect.any(Number) };
    expect(readMemoryIn(workspace.path('out/sale')).adopted).toMatchObject([adoption]);
    expect((await workspace.run()).code).toBe(3);
    // Runs at their end are the directory's too.
    expect((await workspace.retry(`out/sale/${run}`, 'rejected')).exitCode).toBe(0);
  });

  const CUTS: readonly (readonly [string, (text: string) => number | undefined, string])[] = [
    ['deleted', () => undefined, 'is gone'],
    ['emptied', () => 0, 'its end is cut off'],
    ['cut to a half', (text: string) => text.length / 2, 'its end is cut off'],
    ['cut at its last line', (text: string) => text.lastIndexOf('\n', text.length - 2) + 1, 'its end is cut off'],
    ['cut by its last byte', (text: string) => text.length - 1, 'its end is cut off'],
  ];
  test.each(oneIn(5, CUTS))(
    'is refused where the journal of a run that a kill ended was %s, however often',
    async (_how, lengthOf, why) => {
      const { workspace, run } = await aStoppedRun();
      const path = workspace.path(`out/sale/${run}/journal.ndjson`);
      const length = lengthOf(readFileSync(path, 'utf8'));
      if (length === undefined) unlinkSync(path);
      else truncateSync(path, Math.floor(length));
      const sent = await workspace.destinations();
      for (let again = 0; again < 3; again++) await expectRefused(workspace, RUN, why);
      expect(await workspace.destinations()).toEqual(sent);
    },
  );

  const copy = (from: string, to: string) => cpSync(from, to, { recursive: true });
  const RESTORES: readonly (readonly [string, (from: string, to: string) => void])[] = [
    ['copied over it', copy],
    ['copied over it with its times', (from, to) => cpSync(from, to, { recursive: true, preserveTimestamps: true })],
    [
      'put in its place',
      (from, to) => {
        rmSync(to, { recursive: true });
        renameSync(from, to);
      },
    ],
    [
      'copied over it, and given to a group',
      (from, to) => {
        copy(from, to);
        for (const path of listFiles(to)) chmodSync(path, 0o660);
      },
    ],
  ];
  test.each(oneIn(4, RESTORES))(
    'is refused by each command and at each try where a backup was %s, made while a run sent that came to its end since',
    async (_how, restore) => {
      const workspace = await aRunWithBackup(() => 'out');
      restore(workspace.path('backup'), workspace.path('out'));
      const run = workspace.firstRun();
      for (const args of [
        RUN,
        RUN,
        ['plan', 'job.yaml'],
        ['apply', run],
        ['settle', run, '--assume', 'sent', '--confirm', '10'],
        ['retry', run, '--only', 'unprocessed'],
        ['cancel', run],
        ['abandon', run],
        ['prune', 'job.yaml', '--older-than', '0h'],
      ]) {
        await expectRefused(workspace, args, 'it was put back');
      }
      await expectEachOnce(workspace, 100);
      expect((await workspace.run('--adopt')).stderr).toContain('is adopted by');
      expect((await workspace.run()).code).toBe(3);
    },
  );

  test('is refused where the journal alone was put back, made while a run sent that came to its end since', async () => {
    const journalOf = (workspace: Workspace) => `${workspace.firstRun()}/journal.ndjson`;
    const workspace = await aRunWithBackup(journalOf);
    cpSync(workspace.path('backup'), workspace.path(journalOf(workspace)), { preserveTimestamps: true });
    for (let again = 0; again < 3; again++)
      await expectRefused(workspace, RUN, 'its end is cut off', 'Put the run back');
    await expectEachOnce(workspace, 100);
  });

  test('is refused without its lock file, until a person adopts it', async () => {
    const workspace = await aJobFor(people(10));
    expect((await workspace.run()).code).toBe(0);
    for (const path of listFiles(workspace.path('out/sale'))) if (path.includes('/lock-')) unlinkSync(path);
    for (let again = 0; again < 3; again++)
      await expectRefused(workspace, RUN, 'it was put back, copied, damaged or removed');
    expect((await workspace.run('--adopt')).code).toBe(0);
    expect((await workspace.run()).code).toBe(0);
    // Nor is a memory made anew silently.
    removeMemory(workspace.path('out/sale'));
    await expectRefused(workspace, RUN, 'its memory is gone');
    expect(await workspace.told(...RUN, '--adopt')).toMatchObject({ state: 'nothing-new' });
  });

  test('goes on where its files have other rights, links and times since a run was stopped', async () => {
    const workspace = await aJobFor(people(30), {}, { kind: 'status-401', area: 'sms', nth: 2 });
    expect((await workspace.run()).code).toBe(4);
    for (const path of listFiles(workspace.path('out/sale'))) {
      chmodSync(path, 0o644);
      linkSync(path, `${path}.link`);
      utimesSync(path, 1_700_000_000, 1_700_000_000);
    }

    expect((await workspace.run()).code).toBe(0);
    await expectEachOnce(workspace, 30);
  });
});
