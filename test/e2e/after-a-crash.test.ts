import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, people } from './a-job.js';
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
});
