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
