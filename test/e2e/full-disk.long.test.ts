import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { numbersOf } from './a-job.js';
import type { Workspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';
import { COMMAND } from './command.js';
import { aJobOf, expectDiskError, expectFinishes, expectOnlyIntended, PEOPLE } from './disk-errors.js';
import { needMounts, needStrace } from './of-the-machine.js';
import { runUnder, underLimit } from './run-under.js';

const strace = needStrace();
const mounts = needMounts();

describe.concurrent('a file that may not grow beyond a limit', () => {
  const ROOMS = [
    ['the lock, and nothing else', 1],
    ['a part of the plan', 9],
    ['the plan, and a part of the journal', 41],
    ['the plan, and most of the journal', 56],
  ] as const;
  test.each(oneIn(4, ROOMS))(
    'which leaves room for %s: 75, the error of the disk, and the same command finishes',
    async (room, blocks) => {
      const workspace = await aJobOf({ batchSize: 1 });

      const ended = await runUnder(workspace, underLimit(`-f ${blocks}`));

      expectDiskError(ended, 'EFBIG');
      await expectOnlyIntended(workspace);
      expect((await workspace.sms()).length > 0).toBe(room.includes('journal'));
      await expectFinishes(workspace);
    },
  );
});

describe.skipIf(mounts.isMissing)(mounts.title('a disk of its own'), () => {
  test.concurrent('that is full in the middle of a run: 75, and with room again the same command finishes', async ({
    onTestFinished,
  }) => {
    const workspace = await aJobOf({ batchSize: 1 });
    const mounted = aMountedDisk(workspace, { options: 'size=64k', onTestFinished });

    const ended = await workspace.run();

    expectDiskError(ended, 'ENOSPC');
    await expectOnlyIntended(workspace);
    expect((await workspace.sms()).length).toBeGreaterThan(0);
    mounted.again('remount,size=8m');
    await expectFinishes(workspace);
  });
});

const CLOSED = [
  ['the output directory', 'out', 'out/sale'],
  ["the job's directory in it", 'out/sale', 'out/sale/lock-000001.json'],
] as const;
test.concurrent.each(oneIn(2, CLOSED))(
  '%s that may not be written to: 2, its path, nothing sent, and with the right to the same command finishes',
  async (_, closed, named) => {
    const workspace = await aJobOf({ batchSize: 10 });
    mkdirSync(workspace.path(closed), { recursive: true });
    for (const path of [workspace.directory, workspace.path('out')]) chmodSync(path, 0o755);
    // Whom jobs wrote to is kept beside them.
    if (closed !== 'out') {
      mkdirSync(workspace.path('out/_people'));
      chmodSync(workspace.path('out/_people'), 0o777);
    }
    chmodSync(workspace.path(closed), 0o555);
    const run = () => workspace.finish(workspace.start(['run', 'job.yaml'], asNobody(workspace)));

    const ended = await run();

    expectDiskError(ended, 'EACCES', 2);
    expect(ended.stderr).toContain(`${workspace.path(named)}: this user has no permission`);
    expect(workspace.requests()).toEqual([]);
    chmodSync(workspace.path(closed), 0o777);
    const { code, summary } = await run();
    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expect(await workspace.destinations()).toEqual(numbersOf(PEOPLE));
  },
);

describe.skipIf(strace.isMissing)(strace.title('a disk that says that it did not keep what it was given'), () => {
  const CALLS = [
    ['fdatasync', 'EIO', 1],
    ['fdatasync', 'EIO', 4],
    ['fdatasync', 'ENOSPC', 9],
    ['write', 'ENOSPC', 6],
  ] as const;
  test.concurrent.each(oneIn(4, CALLS))(
    '%s of the journal is %s at its call number %i: 75, it is not tried again, and the same command finishes',
    async (name, error, nth) => {
      const workspace = await aJobOf({ batchSize: 2 });
      await workspace.volley('plan', 'job.yaml');
      const journal = workspace.path(`out/sale/${workspace.runs()[0]}/journal.ndjson`);
      const inject = [`-e`, `trace=${name}`, '-e', `inject=${name}:error=${error}:when=${nth}`];

      const ended = await runUnder(
        workspace,
        ['strace', '-f', '-o', workspace.path('trace'), '-P', journal, ...inject],
        {
          // One thread: strace counts the calls of each.
          env: { UV_USE_IO_URING: '0', UV_THREADPOOL_SIZE: '1' },
        },
      );

      expect([ended.code, ended.stderr]).toEqual([75, expect.stringContaining(error)]);
      const calls = workspace.read('trace').match(new RegExp(`${name}\\(`, 'g'));
      expect(calls).toHaveLength(nth);
      await expectOnlyIntended(workspace);
      await expectFinishes(workspace);
    },
  );
});

/** Root may write anywhere. Another user can read the command in a copy beside the job, and not where only root may look. */
function asNobody(workspace: Workspace) {
  const copy = workspace.path('volley');
  cpSync(dirname(COMMAND), join(copy, 'dist'), { recursive: true });
  cpSync(join(dirname(COMMAND), '../package.json'), join(copy, 'package.json'));
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return {
    command: join(copy, 'dist/cli.js'),
    nodeArguments: ['--import', 'data:text/javascript,if (process.getuid() === 0) process.seteuid(65534)'],
  };
}

function aMountedDisk(
  workspace: Workspace,
  { options, onTestFinished }: { options: string } & Pick<TestContext, 'onTestFinished'>,
) {
  mkdirSync(workspace.path('out'));
  const mount = (flags: string) => execFileSync('mount', ['-t', 'tmpfs', '-o', flags, 'none', workspace.path('out')]);
  mount(options);
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', workspace.path('out')]);
  });
  return { again: mount };
}
