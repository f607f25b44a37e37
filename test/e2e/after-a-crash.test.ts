import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

describe.concurrent('what a run leaves behind', () => {
  test('a run that came to its end, and whose outputs were not written, is reported by the same command, with its exit code', async () => {
    const workspace = await aWorkspace({ kind: 'reset-after', area: 'sms', nth: 1 });
    workspace.write('people.csv', people(20));
    workspace.writeJob(aJob(workspace));
    const { summary } = await workspace.run();
    expect(summary.exitCode).toBe(3);
    for (const name of readdirSync(summary.directory)) {
      if (/^summary|\.(csv|part)$/.test(name)) rmSync(`${summary.directory}/${name}`);
    }
    writeFileSync(`${summary.directory}/1-sms.results.csv.0.part`, 'of the process that died');

    const again = await workspace.run();

    expect(again.code).toBe(3);
    expect(again.summary.balance).toMatchObject({ accepted: 10, inDoubt: 10 });
    expect(readdirSync(summary.directory).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(workspace.requests()).toHaveLength(2);
    expect(JSON.parse((await workspace.run()).stdout)).toMatchObject({ state: 'nothing-new' });
  });

  test('a command that finishes a run and sends a new file tells of both, and ends with the graver exit code', async () => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 });
    workspace.write('people-1.csv', people(30));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people-*.csv' } })] }));
    await killAfter(2, workspace, 'run', 'job.yaml');
    workspace.setFaults();
    workspace.write('people-2.csv', people(5, 101));

    const { code, stdout } = await workspace.run();

    const { balance, earlier } = JSON.parse(stdout);
    expect(code).toBe(3);
    expect(balance).toMatchObject({ read: 5, accepted: 5 });
    expect(earlier).toMatchObject([{ exitCode: 3, balance: { accepted: 20, inDoubt: 10 } }]);
  });

  test('a command that finishes a run, and cannot plan what is new, tells of the run that it finished', async () => {
    const workspace = await aWorkspace({ kind: 'status-401', nth: 2 });
    workspace.write('people-1.csv', people(30));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people-*.csv' } })] }));
    expect((await workspace.run()).code).toBe(4);
    workspace.setFaults();
    workspace.write('people-2.csv', 'name,mobile\n"P1,1\n');

    const { code, summary, stderr } = await workspace.run();

    expect(code).toBe(2);
    expect(summary).toMatchObject({ state: 'refused', earlier: [{ state: 'finished', balance: { accepted: 30 } }] });
    expect(stderr).toContain('Nothing was sent');
  });

  test('one signal to a run that is stopping by itself waits for what is in flight, and keeps the reason', async () => {
    const workspace = await aWorkspace(
      // The first goes alone.
      { kind: 'latency', delayMs: 3000, area: 'sms', nth: 2 },
      { kind: 'status-401', area: 'sms', nth: 3 },
    );
    workspace.write('people.csv', people(40));
    const limits = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 2 };
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits })] }));
    const running = workspace.start(['run', 'job.yaml']);
    await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(3);
    running.signal('SIGTERM');

    const { code, summary } = await workspace.finish(running);

    expect([4, 75]).toContain(code);
    expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 0, unprocessed: 20 });
  });

  test('status names no runner once its process is gone', async () => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 1 });
    workspace.write('people.csv', people(10));
    workspace.writeJob(aJob(workspace));
    const running = workspace.start(['run', 'job.yaml']);
    await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(1);
    const [run] = workspace.runs();
    const status = async () => JSON.parse((await workspace.volley('status', `out/sale/${run}`)).stdout).runner;
    expect(await status()).toMatchObject({ pid: expect.any(Number) });
    running.signal('SIGKILL');
    await running.ended;
    expect(await status()).toBeNull();
  });

  test('a link to a run directory is the run itself; a copy of one is refused', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(5));
    workspace.writeJob(aJob(workspace));
    await workspace.volley('plan', 'job.yaml');
    const [run] = workspace.runs();
    symlinkSync(workspace.path(`out/sale/${run}`), workspace.path('latest'));

    expect((await workspace.volley('apply', 'latest')).code).toBe(0);
    expect(readdirSync(workspace.directory).filter((name) => name.startsWith('lock'))).toEqual([]);
    mkdirSync(workspace.path('copy'));
    renameSync(workspace.path(`out/sale/${run}`), workspace.path(`copy/${run}`));
    const copied = await workspace.volley('apply', `copy/${run}`);

    expect(copied.code).toBe(2);
    expect(copied.stderr).toContain('a copy of it would send everything again');
    expect(await workspace.destinations()).toEqual(numbersOf(5));
  });

  test('a repeated job whose old runs were deleted is still repeated', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(2));
    workspace.writeJob(aJob(workspace, { repeat: 'always' }));
    const { summary } = await workspace.run();
    await workspace.run();
    rmSync(summary.directory, { recursive: true });

    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2 });
    expect(await workspace.destinations()).toHaveLength(6);
  });
});
