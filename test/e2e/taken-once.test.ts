import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { removeMemory } from '../registry/memory-on-disk.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { expectRefused } from './expect-refused.js';

/** A run of so many rows that is at its end. */
async function aFinishedRun(rows = 20): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aJobFor(people(rows));
  expect((await workspace.run()).code).toBe(0);
  return { workspace, run: workspace.runs()[0] ?? '' };
}

describe.concurrent('what was sent is known', () => {
  test('after the journal of a finished run was deleted', async () => {
    const { workspace, run } = await aFinishedRun();
    unlinkSync(workspace.path(`out/sale/${run}/journal.ndjson`));
    expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');
    for (const flags of [[], ['--adopt']]) {
      const { error } = await workspace.refused('retry', `out/sale/${run}`, '--only', 'rejected', ...flags);
      expect([error.code, error.hint]).toEqual(['registry-mismatch', expect.not.stringContaining('--adopt')]);
      expect(error.problems).toMatchObject([{ message: expect.stringContaining('is gone') }]);
    }
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });

  test('after the directory of its run was deleted; new files are sent', async () => {
    const { workspace, run } = await aFinishedRun();
    rmSync(workspace.path(`out/sale/${run}`), { recursive: true });
    expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');
    workspace.write('people.csv', people(5, 100));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(20), ...numbersOf(5, 100)]);
  });

  test('by an old plan of --again: the first time has two names', async () => {
    const workspace = await aJobFor(people(20));
    expect((await workspace.volley('plan', 'job.yaml', '--again')).code).toBe(0);
    const [old] = workspace.runs();
    expect((await workspace.run()).code).toBe(0);
    const { error } = await workspace.refused('apply', `out/sale/${old}`);
    expect([error.code, JSON.stringify(error)]).toEqual(['plan-mismatch', expect.stringContaining('was taken by run')]);
    expect(await workspace.destinations()).toEqual(numbersOf(20));
    expect((await workspace.run('--again')).code).toBe(0);
    expect(await workspace.destinations()).toHaveLength(40);
  });

  test('by whatever link the job is called; a file of a ConfigMap stays where it is shown', async () => {
    const { workspace } = await aFinishedRun();
    mkdirSync(workspace.path('links'));
    symlinkSync('../job.yaml', workspace.path('links/other.yaml'));
    symlinkSync(workspace.directory, workspace.path('links/here'));
    for (const link of ['links/other.yaml', 'links/here/job.yaml']) {
      expect((await workspace.told('run', link)).state, link).toBe('nothing-new');
    }
    // As Kubernetes shows it: job.yaml → ..data/job.yaml, ..data → ..2026_11_22.
    mkdirSync(workspace.path('config/..2026_11_22'), { recursive: true });
    renameSync(workspace.path('job.yaml'), workspace.path('config/..2026_11_22/job.yaml'));
    renameSync(workspace.path('people.csv'), workspace.path('config/people.csv'));
    renameSync(workspace.path('out'), workspace.path('config/out'));
    symlinkSync('..2026_11_22', workspace.path('config/..data'));
    symlinkSync('..data/job.yaml', workspace.path('config/job.yaml'));
    expect((await workspace.told('run', 'config/job.yaml')).state).toBe('nothing-new');
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });
});

describe.concurrent('a file that was saved anew', () => {
  const text = people(20);
  const rows = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const [, ...persons] = rows;
  const SAVED: readonly (readonly [string, string, string | Buffer])[] = [
    ['with a byte order mark', 'people.csv', `\uFEFF${text}`],
    ['with CRLF', 'people.csv', text.replaceAll('\n', '\r\n')],
    ['with semicolons', 'people.csv', text.replaceAll(',', ';')],
    ['with tabs', 'people.csv', text.replaceAll(',', '\t')],
    ['with quotes', 'people.csv', rows.map((row) => row.map((cell) => `"${cell}"`).join(',')).join('\n')],
    ['as UTF-16', 'people.csv', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['with a blank line', 'people.csv', text.replace('\n', '\n\n')],
    ['as NDJSON', 'people.ndjson', persons.map(([name, mobile]) => `${JSON.stringify({ name, mobile })}\n`).join('')],
    ['packed', 'people.csv.gz', gzipSync(text)],
  ];
  test.each(oneIn(3, SAVED))('%s is the same file', async (_how, name, content) => {
    const { workspace, run } = await aFinishedRun();
    rmSync(workspace.path('people.csv'));
    workspace.write(name, content);
    workspace.change({ steps: [anSmsStep({ input: { files: 'people.*' } })] });
    const { state, leftOut } = await workspace.told('run', 'job.yaml');
    const reason = `was already sent by run ${run.split('-').at(-1)}`;
    expect([state, leftOut]).toMatchObject(['nothing-new', [{ file: name, reason: expect.stringContaining(reason) }]]);
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });
});

test('a memory that was deleted is not made anew silently', async () => {
  const { workspace } = await aFinishedRun();
  removeMemory(workspace.path('out/sale'));
  await expectRefused(workspace, ['run', 'job.yaml'], 'its memory is gone');
  expect((await workspace.told('run', 'job.yaml', '--adopt')).state).toBe('nothing-new');
});
