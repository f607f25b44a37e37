import { describe, expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspace, aWorkspaceInProcess, volleyIn } from './a-workspace.js';
import { readFailure } from './failure.js';

test('--json=true and --json=false say how a command that is refused is printed', async () => {
  const workspace = await aWorkspace();
  const { stdout, code } = await workspace.volley('run', 'nowhere.yaml', '--json=false');
  expect([code, stdout]).toEqual([2, '']);
  const asked = await workspace.volley('run', 'nowhere.yaml', '--no-json', '--json=true');
  expect(JSON.parse(asked.stdout)).toMatchObject({ state: 'refused', exitCode: 2 });
});

/** 0, 2, 4 and 75 are shown where what leads to them is tested. */
test.concurrent('exit code 2: flags, verbs, job files, credentials and environments that are not right, and nothing is sent', async () => {
  const workspace = await aWorkspaceInProcess();
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace));
  workspace.writeJob(aJob(workspace, { colour: 'red', steps: [anSmsStep({ batchsize: 5 })] }), 'typo.yaml');
  const start = (args: string[], env = {}) => volleyIn(workspace, { env }, ...args);

  const ended = await Promise.all([
    start(['run', 'job.yaml', '--agian']),
    start(['rnu', 'job.yaml']),
    start(['translate', 'job.yaml']),
    start([]),
    start(['run']),
    start(['run', 'none.yaml']),
    start(['run', 'typo.yaml']),
    start(['run', 'job.yaml'], { VOLLEY_API_KEY: '' }),
    start(['run', 'job.yaml'], { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    start(['apply', 'no-such-run']),
  ]);

  expect(ended.map(readFailure).map(({ state, exitCode }) => [state, exitCode])).toEqual(
    ended.map(() => ['refused', 2]),
  );
  const [flag, verb, unknown, none, positional, file, typo, key, tls, run] = ended.map(({ stderr }) => stderr);
  expect(flag).toContain('agian');
  const hint = 'Usage: volley <verb>; see volley --help';
  const misuse = { level: 50, event: 'error', exitCode: 2, code: 'bad-flag', hint };
  expect(JSON.parse(verb!)).toMatchObject({ ...misuse, msg: 'There is no such verb. Did you mean run?' });
  expect(JSON.parse(unknown!)).toMatchObject({ ...misuse, msg: 'There is no such verb' });
  expect(JSON.parse(none!)).toMatchObject({ ...misuse, msg: 'Name a verb, such as run' });
  expect(positional).toContain('job');
  expect(file).toContain('none.yaml');
  expect(typo).toMatch(/batchSize.*colour/s);
  expect(key).toContain('VOLLEY_API_KEY');
  expect(tls).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
  expect(run).toContain('no-such-run');
  expect(workspace.requests()).toEqual([]);
});

describe.concurrent('a guard', () => {
  test('maxRejectedPercent, maxMessages, maxSegments: exit 4, nothing is sent, and all that are broken are named', async () => {
    const workspace = await aWorkspaceInProcess();
    workspace.write('people.csv', `${people(9)}Nobody,\n`);
    const guards = { maxRejectedPercent: 5, maxMessages: 8, maxSegments: 8 };
    workspace.writeJob(aJob(workspace, { guards }));

    const ended = await workspace.run();

    const { state, exitCode, error } = readFailure(ended);
    expect([state, exitCode, error.code]).toEqual(['stopped', 4, 'guard']);
    expect(error.problems.map(({ file }) => file)).toEqual(['step 1 (sms)', 'plan', 'plan']);
    expect(ended.stderr).toMatch(/maxRejectedPercent 5.*maxMessages 8.*maxSegments 8/s);
    expect(workspace.requests()).toEqual([]);

    workspace.writeJob(aJob(workspace, { guards: { maxRejectedPercent: 10, maxMessages: 9, maxSegments: 9 } }));
    const passed = await workspace.run();
    expect(passed.code).toBe(1);
    expect(await workspace.destinations()).toEqual(numbersOf(9));
  });
});
