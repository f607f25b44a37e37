import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, OTHER_ACCOUNT } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';

describe.concurrent('a file is sent once per job', () => {
  test('the same command again sends nothing, and says what it left out', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(12));
    workspace.writeJob(aJob(workspace));
    const { summary } = await workspace.run();

    const { code, stdout } = await workspace.run();

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'nothing-new', exitCode: 0 });
    expect(stdout).toContain(`people.csv`);
    expect(stdout).toContain(summary.plan);
    expect(workspace.requests()).toHaveLength(2);
  });

  test('by another account it is sent as well, as another run; the run of the first one is not touched', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(5));
    workspace.writeJob(aJob(workspace));
    const first = await workspace.run();
    workspace.writeJob(aJob(workspace, { service: { account: OTHER_ACCOUNT.account } }));

    const other = await workspace.run();

    expect([first.code, other.code]).toEqual([0, 0]);
    expect(other.summary.plan).not.toBe(first.summary.plan);
    expect((await workspace.sms()).map(({ subAccountId }) => subAccountId).sort()).toEqual([
      ...Array(5).fill('acme_hq'),
      ...Array(5).fill('umbrella_hq'),
    ]);
    expect(JSON.parse((await workspace.run()).stdout)).toMatchObject({ state: 'nothing-new' });
  });

  test('a new file beside the old ones sends that one only, a copy of an old one nothing, fixed text nothing', async () => {
    const workspace = await aWorkspace();
    const step = { input: { files: 'people*.csv' } };
    workspace.write('people-1.csv', people(5));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep(step)] }));
    await workspace.run();

    workspace.write('people-2.csv', people(5, 101));
    workspace.write('people-3.csv', people(5));
    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expect(summary.steps[0]?.inputs.map(({ file }) => file)).toEqual(['people-2.csv']);
    expect(await workspace.destinations()).toEqual([...numbersOf(5), ...numbersOf(5, 101)]);

    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ ...step, template: { text: 'Dear {{ name }}' } })] }));
    const fixed = await workspace.run();

    expect(JSON.parse(fixed.stdout)).toMatchObject({ state: 'nothing-new' });
    expect(workspace.requests()).toHaveLength(2);
  });

  test('a file that was packed after it was sent is the same file, and so is one that was unpacked', async () => {
    const workspace = await aWorkspace();
    workspace.write('people-1.csv', people(3));
    workspace.write('people-2.csv.gz', gzipSync(people(3, 101)));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people-*' } })] }));
    await workspace.run();

    workspace.write('people-3.csv.gz', gzipSync(people(3)));
    workspace.write('people-4.csv', people(3, 101));
    const { stdout } = await workspace.run();

    expect(JSON.parse(stdout)).toMatchObject({ state: 'nothing-new' });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(3, 101)]);
  });

  test('--again and `repeat: always` send the same file once more, with other ids', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace));
    await workspace.run();

    expect((await workspace.run('--again')).code).toBe(0);
    workspace.writeJob(aJob(workspace, { repeat: 'always' }));
    expect((await workspace.run()).code).toBe(0);

    const sent = await workspace.sms();
    expect(sent.map((entry) => entry.destination)).toEqual([...numbersOf(3), ...numbersOf(3), ...numbersOf(3)]);
    expect(new Set(sent.map((entry) => entry.clientMessageId)).size).toBe(9);
    expect(new Set(sent.map((entry) => entry.clientBatchId)).size).toBe(3);
  });

  test('`repeat: per-day` sends a file no second time on the same day', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace, { repeat: 'per-day' }));
    // Two runs on both sides of midnight are on two days.
    const days = [new Date().getDate()];
    await workspace.run();
    const { code } = await workspace.run();
    days.push(new Date().getDate());

    expect(code).toBe(0);
    expect((await workspace.sms()).length).toBe(days[0] === days[1] ? 3 : 6);
  });
});
