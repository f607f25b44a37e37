import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aStoppedRun } from './a-stopped-run.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A run of so many rows that is at its end. */
async function aFinishedRun(rows = 20): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(rows));
  workspace.writeJob(aJob(workspace));
  expect((await workspace.run()).code).toBe(0);
  return { workspace, run: workspace.runs()[0] ?? '' };
}

/** Refused with 4 before anything is sent, with a sentence that says what is wrong. */
async function expectRefused(workspace: Workspace, args: readonly string[], why: string): Promise<void> {
  const before = workspace.requests().length;
  const { error, exitCode } = readFailure(await workspace.volley(...args));
  expect([exitCode, error.code]).toEqual([4, 'registry-mismatch']);
  expect(JSON.stringify(error)).toContain(why);
  expect(error.hint).toContain('--adopt');
  expect(workspace.requests()).toHaveLength(before);
}

async function expectEachOnce(workspace: Workspace): Promise<void> {
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
}

const RUN = ['run', 'job.yaml'];

describe.concurrent('a directory that is not as volley left it', () => {
  test('is refused where the whole output was copied; the original goes on', async () => {
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
    await expectRefused(workspace, RUN, 'it is a copy of');
    for (const verb of [
      ['settle', '--assume', 'sent', '--confirm', '10'],
      ['retry', '--only', 'unprocessed'],
    ]) {
      const [name = '', ...flags] = verb;
      await expectRefused(workspace, [name, `out/sale/${run}`, ...flags], 'it is a copy of');
    }
    await expectEachOnce(workspace);

    const adopted = await workspace.run('--adopt');
    expect([adopted.code, adopted.stderr]).toEqual([3, expect.stringContaining('is adopted by')]);
    const entry = workspace
      .read('out/sale/registry.ndjson')
      .split('\n')
      .find((line) => line.includes('"adopted"'));
    expect(JSON.parse(entry ?? '')).toMatchObject({
      type: 'adopted',
      by: expect.stringMatching(/./),
      at: expect.any(Number),
    });
    expect((await workspace.run()).code).toBe(3);
  });

  test('is refused where an old backup was copied over it', async () => {
    const { workspace } = await aStoppedRun();
    cpSync(workspace.path('out'), workspace.path('bak'), { recursive: true, preserveTimestamps: true });
    expect((await workspace.run()).code).toBe(3);
    for (const name of ['registry.ndjson', ...workspace.runs().map((run) => `${run}/journal.ndjson`)]) {
      // As `cp -a` does: the file stays, its content is the old one.
      writeFileSync(workspace.path(`out/sale/${name}`), readFileSync(workspace.path(`bak/sale/${name}`)));
    }
    await expectRefused(workspace, RUN, 'an older copy was put in its place');
    await expectEachOnce(workspace);
  });

  test.each([
    ['deleted', (path: string) => unlinkSync(path), 'is gone'],
    ['cut', (path: string) => truncateSync(path, 900), 'its end is cut off'],
  ])('is refused where the journal of an unfinished run was %s', async (_how, damage, why) => {
    const { workspace, run } = await aStoppedRun();
    // The next runner knows how long it is, and notes it.
    workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 1 });
    const running = workspace.start(RUN);
    await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(3);
    running.signal('SIGTERM');
    running.signal('SIGTERM');
    await running.ended;
    workspace.setFaults();
    damage(workspace.path(`out/sale/${run}/journal.ndjson`));
    const sent = await workspace.destinations();
    await expectRefused(workspace, RUN, why);
    expect(await workspace.destinations()).toEqual(sent);
  });

  test('stops a runner under which its journal is removed', async () => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 1500, area: 'sms', nth: 2 });
    workspace.write('people.csv', people(40));
    workspace.writeJob(aJob(workspace));
    const running = workspace.start(RUN);
    await vi.waitFor(() => expect(workspace.requests()).toHaveLength(2), { timeout: 60_000 });
    unlinkSync(workspace.path(`out/sale/${workspace.runs()[0]}/journal.ndjson`));
    const { error, exitCode } = readFailure(await workspace.finish(running));
    expect([exitCode, error.code]).toEqual([4, 'registry-mismatch']);
    expect(error.message).toContain('was removed while the run wrote to it');
    expect(workspace.requests()).toHaveLength(2);
  });
});

describe.concurrent('what was sent is known', () => {
  test('after the journal of a finished run was deleted', async () => {
    const { workspace, run } = await aFinishedRun();
    unlinkSync(workspace.path(`out/sale/${run}/journal.ndjson`));
    expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');
    await expectRefused(workspace, ['apply', `out/sale/${run}`], 'is gone');
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });

  test('after the directory of its run was deleted; new files are sent', async () => {
    const { workspace, run } = await aFinishedRun();
    rmSync(workspace.path(`out/sale/${run}`), { recursive: true });
    expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');
    workspace.write('people.csv', people(5, 100));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(20), ...numbersOf(5, 100)]);
  });

  test('by an old plan of --again: the first time has two names', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(20));
    workspace.writeJob(aJob(workspace));
    expect((await workspace.volley('plan', 'job.yaml', '--again')).code).toBe(0);
    const [old] = workspace.runs();
    expect((await workspace.run()).code).toBe(0);
    const { error } = readFailure(await workspace.volley('apply', `out/sale/${old}`));
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
      expect(JSON.parse((await workspace.volley('run', link)).stdout).state, link).toBe('nothing-new');
    }
    // As Kubernetes shows it: job.yaml → ..data/job.yaml, ..data → ..2026_11_22.
    mkdirSync(workspace.path('config/..2026_11_22'), { recursive: true });
    renameSync(workspace.path('job.yaml'), workspace.path('config/..2026_11_22/job.yaml'));
    renameSync(workspace.path('people.csv'), workspace.path('config/people.csv'));
    renameSync(workspace.path('out'), workspace.path('config/out'));
    symlinkSync('..2026_11_22', workspace.path('config/..data'));
    symlinkSync('..data/job.yaml', workspace.path('config/job.yaml'));
    expect(JSON.parse((await workspace.volley('run', 'config/job.yaml')).stdout).state).toBe('nothing-new');
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });

  test('is refused through a link beside which an older version kept runs of its own', async () => {
    const { workspace } = await aFinishedRun();
    mkdirSync(workspace.path('links'));
    symlinkSync('../job.yaml', workspace.path('links/job.yaml'));
    cpSync(workspace.path('out'), workspace.path('links/out'), { recursive: true });
    const { error, exitCode } = readFailure(await workspace.volley('run', 'links/job.yaml'));
    expect([exitCode, error.message]).toEqual([
      2,
      expect.stringContaining('holds runs that were begun through the link'),
    ]);
  });
});

describe.concurrent('a file that was saved anew', () => {
  const text = people(20);
  const rows = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const [, ...persons] = rows;
  test.each<[string, string, string | Buffer]>([
    ['with a byte order mark', 'people.csv', `\uFEFF${text}`],
    ['with CRLF', 'people.csv', text.replaceAll('\n', '\r\n')],
    ['with semicolons', 'people.csv', text.replaceAll(',', ';')],
    ['with tabs', 'people.csv', text.replaceAll(',', '\t')],
    ['with quotes', 'people.csv', rows.map((row) => row.map((cell) => `"${cell}"`).join(',')).join('\n')],
    ['as UTF-16', 'people.csv', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['with a blank line', 'people.csv', text.replace('\n', '\n\n')],
    ['as NDJSON', 'people.ndjson', persons.map(([name, mobile]) => `${JSON.stringify({ name, mobile })}\n`).join('')],
  ])('%s is the same file', async (_how, name, content) => {
    const { workspace } = await aFinishedRun();
    rmSync(workspace.path('people.csv'));
    workspace.write(name, content);
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people.*' } })] }));
    const { state, leftOut } = JSON.parse((await workspace.run()).stdout);
    expect([state, leftOut]).toEqual([
      'nothing-new',
      [{ file: name, reason: expect.stringContaining('in another writing') }],
    ]);
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });

  test('beside one with the same rows is left out, and both with other rows are sent', async () => {
    const workspace = await aWorkspace();
    workspace.write('a-people.csv', text);
    workspace.write('b-people.csv', text.replaceAll('\n', '\r\n'));
    workspace.write('c-people.csv', people(5, 100));
    workspace.writeJob(
      aJob(workspace, { steps: [anSmsStep({ input: { files: '*-people.csv' }, duplicates: 'keep' })] }),
    );
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(20), ...numbersOf(5, 100)]);
  });

  test('with one cell changed is another one', async () => {
    const { workspace } = await aFinishedRun();
    workspace.write('people.csv', text.replace(numberOf(7), numberOf(99)));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toHaveLength(40);
  });
});

test('a directory of an older version gets a registry from its runs, and says so', async () => {
  const { workspace } = await aFinishedRun();
  unlinkSync(workspace.path('out/sale/registry.ndjson'));
  const [lock = ''] = await import('node:fs').then(({ readdirSync }) =>
    readdirSync(workspace.path('out/sale')).filter((name) => name.startsWith('lock-')),
  );
  const { known: _known, ...old } = JSON.parse(workspace.read(`out/sale/${lock}`));
  workspace.write(`out/sale/${lock}`, JSON.stringify(old));
  const { stdout, stderr } = await workspace.run();
  expect(JSON.parse(stdout).state).toBe('nothing-new');
  expect(stderr).toContain('registry.ndjson is made from the 1 run');
});

test('a registry that was deleted is not made anew without a word', async () => {
  const { workspace } = await aFinishedRun();
  unlinkSync(workspace.path('out/sale/registry.ndjson'));
  await expectRefused(workspace, RUN, 'it is gone');
  expect(JSON.parse((await workspace.run('--adopt')).stdout).state).toBe('nothing-new');
});
