import { cpSync, mkdirSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aStoppedRun } from './a-stopped-run.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

/** Its batch in flight is in doubt, and the rest is sent: each number at most once. */
async function expectSentOnce(workspace: Workspace): Promise<void> {
  const sent = await workspace.destinations();
  expect(new Set(sent).size).toBe(sent.length);
  expect(sent).toEqual(expect.arrayContaining(numbersOf(10, 21)));
}

describe.concurrent('a copy of an unfinished run', () => {
  test('beside it is refused by the job until it is taken away', async () => {
    const { workspace, run } = await aStoppedRun();
    cpSync(workspace.path(`out/sale/${run}`), workspace.path(`out/sale/${run}.bak`), { recursive: true });

    const refused = await workspace.run();
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`it holds run ${readRunName(run)}, expected`),
    ]);
    expect(workspace.requests()).toHaveLength(2);

    renameSync(workspace.path(`out/sale/${run}.bak`), workspace.path(`${run}.bak`));
    expect((await workspace.run()).code).toBe(3);
    await expectSentOnce(workspace);
  });
});

describe.concurrent('a run', () => {
  test('that was moved with its whole output directory is resumed', async () => {
    const { workspace, run } = await aStoppedRun();
    renameSync(workspace.path('out'), workspace.path('elsewhere'));
    expect((await workspace.volley('apply', `elsewhere/sale/${run}`)).code).toBe(3);
    await expectSentOnce(workspace);
  });

  test('of a job whose directory is a link is known to every command', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(5));
    workspace.writeJob(aJob(workspace));
    mkdirSync(workspace.path('volume/big'), { recursive: true });
    mkdirSync(workspace.path('out'));
    symlinkSync(workspace.path('volume/big'), workspace.path('out/sale'));

    const { summary, code } = await workspace.run();
    expect(code).toBe(0);
    for (const command of [['status'], ['report'], ['apply'], ['retry', '--only', 'rejected']]) {
      const [verb = '', ...flags] = command;
      expect((await workspace.volley(verb, summary.directory, ...flags)).code, verb).toBe(0);
    }
    expect(realpathSync(summary.directory)).toContain('volume/big');
    expect(await workspace.destinations()).toEqual(numbersOf(5));
  });

  test('that is finished is reported by apply, whatever happened to its input', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(5));
    workspace.writeJob(aJob(workspace));
    const { summary } = await workspace.run();
    workspace.write('people.csv', people(6));

    const again = await workspace.volley('apply', summary.directory);

    expect(again.code).toBe(0);
    expect(again.summary).toMatchObject({ state: 'finished', balance: { accepted: 5 } });
    expect(workspace.requests()).toHaveLength(1);
  });

  test.each(['', 'null', '{', '[]'])(
    'whose summary.json holds %j is reported anew by the same command',
    async (text) => {
      const workspace = await aWorkspace();
      workspace.write('people.csv', people(5));
      workspace.writeJob(aJob(workspace));
      const { summary } = await workspace.run();
      workspace.write(`out/sale/${workspace.runs()[0]}/summary.json`, text);

      const again = await workspace.run();

      expect([again.code, again.summary]).toEqual([0, summary]);
      expect(workspace.requests()).toHaveLength(1);
    },
  );
});
