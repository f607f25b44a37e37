import { cpSync, readFileSync, renameSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { aJob, people } from './a-job.js';
import { aStoppedRun } from './a-stopped-run.js';
import { aWorkspaceInProcess, type Workspace } from './a-workspace.js';
import { expectRefused } from './expect-refused.js';
import { readFailure } from './failure.js';

async function expectEachOnce(workspace: Workspace): Promise<void> {
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
}

const RUN = ['run', 'job.yaml'];

describe.concurrent('a directory that is not as volley left it', () => {
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
    // Runs at their end are the directory's too.
    expect((await workspace.volley('retry', `out/sale/${run}`, '--only', 'rejected')).code).toBe(0);
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
    ['deleted', () => undefined, 'is gone'],
    ['emptied', () => 0, 'its end is cut off'],
    ['cut to a quarter', (text: string) => text.length / 4, 'its end is cut off'],
    ['cut to a half', (text: string) => text.length / 2, 'its end is cut off'],
    ['cut to three quarters', (text: string) => (text.length * 3) / 4, 'its end is cut off'],
    ['cut at its first line', (text: string) => text.indexOf('\n') + 1, 'its end is cut off'],
    ['cut at its last line', (text: string) => text.lastIndexOf('\n', text.length - 2) + 1, 'its end is cut off'],
    ['cut by its last byte', (text: string) => text.length - 1, 'its end is cut off'],
  ])('is refused where the journal of a run that a kill ended was %s, however often', async (_how, lengthOf, why) => {
    const { workspace, run } = await aStoppedRun();
    const path = workspace.path(`out/sale/${run}/journal.ndjson`);
    const length = lengthOf(readFileSync(path, 'utf8'));
    if (length === undefined) unlinkSync(path);
    else truncateSync(path, Math.floor(length));
    const sent = await workspace.destinations();
    for (let again = 0; again < 3; again++) await expectRefused(workspace, RUN, why);
    expect(await workspace.destinations()).toEqual(sent);
  });

  test('is refused where zeros took the place of the last lines of such a journal', async () => {
    const { workspace, run } = await aStoppedRun();
    const path = workspace.path(`out/sale/${run}/journal.ndjson`);
    const text = readFileSync(path, 'utf8');
    const kept = text.indexOf('\n') + 1;
    writeFileSync(path, text.slice(0, kept).padEnd(text.length, '\0'));
    const { error } = readFailure(await workspace.volley(...RUN));
    expect(error.message).toContain(`its last good line ends at byte ${kept}`);
    await expectEachOnce(workspace);
  });

  test('stops a runner under which its journal is removed', async () => {
    const workspace = await aWorkspaceInProcess({ kind: 'latency', delayMs: 1500, area: 'sms', nth: 2 });
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
