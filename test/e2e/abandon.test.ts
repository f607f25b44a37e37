import { describe, expect, test } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import type { Files } from '../../src/storage/files.js';
import { removeMemory } from '../registry/memory-on-disk.js';
import { aRecorder } from '../service/a-recorder.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aJobFor, aJobOfSteps, aWorkspaceInProcess as aWorkspace, volleyIn, type Workspace } from './a-workspace.js';
import { readFailure } from './command.js';
import { aRunThatEndedEarly, aStoppedRun } from './some-runs.js';

const abandon = (workspace: Workspace, run: string) => workspace.told('abandon', `out/sale/${run}`);

const expectRefused = (workspace: Workspace, run: string) =>
  workspace.expectRefused(['apply', `out/sale/${run}`], 2, 'bad-plan', /abandoned on 2.* by /);

async function expectNothingNew(workspace: Workspace, ...flags: string[]): Promise<void> {
  expect(await workspace.told('run', 'job.yaml', ...flags)).toMatchObject({ state: 'nothing-new' });
}

const nobodyTwice = async (workspace: Workspace) => {
  const sent = await workspace.destinations();
  expect(new Set(sent).size).toBe(sent.length);
  return sent;
};

describe('abandon', () => {
  test('what is advised where a run was planned for the wrong account, followed to the letter, sends every row for the right one', async () => {
    const workspace = await aJobFor(people(30), { service: { subAccountId: 'mistyped_hq' } });
    expect((await workspace.run()).code).toBe(4);

    workspace.change({});
    const { hint: advice } = await workspace.expectRefused(['run', 'job.yaml'], 2, 'plan-mismatch');
    const [, wrong = ''] = /volley abandon (\S+)`, then run the job/.exec(String(advice)) ?? [];
    const retry = ['retry', wrong, '--only', 'unprocessed', '--job', 'job.yaml'];
    const { hint } = await workspace.expectRefused(retry, 2, 'plan-mismatch', 'Cannot retry rows of run');
    expect(hint).toContain('run the job once that run is finished or abandoned');
    await workspace.told('abandon', wrong);
    expect(await workspace.run()).toMatchObject({ code: 0, summary: { balance: { read: 30, accepted: 30 } } });
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  });

  test('a run that died never sends again: what it sent stays, what was under way is in doubt, the rest goes to another plan, and new files are sent', async () => {
    const { workspace, run } = await aStoppedRun();
    const balance = { read: 30, accepted: 10, inDoubt: 10, unprocessed: 10 };
    expect(await abandon(workspace, run)).toMatchObject({
      ...{ plan: readRunName(run), state: 'abandoned', exitCode: 0, filesAreFree: false, balance },
    });
    await expectRefused(workspace, run);
    workspace.write('people.csv', people(30));
    expect(await workspace.told('run', 'job.yaml')).toMatchObject({ exitCode: 3, state: 'nothing-new' });

    const sent = await workspace.resend(`out/sale/${run}`, 'unprocessed');
    expect(sent.summary.balance).toMatchObject({ read: 10, accepted: 10 });
    expect((await workspace.settle(`out/sale/${run}`, 'not-sent', 10)).code).toBe(0);
    expect((await workspace.resend(`out/sale/${run}`, 'not-sent')).code).toBe(0);
    expect(await nobodyTwice(workspace)).toEqual(numbersOf(30));
    expect(await abandon(workspace, run)).toMatchObject({ state: 'abandoned' });
    await expectNothingNew(workspace);
    // Of others its files are none: status and runs show what it is.
    workspace.write('people.csv', people(5, 40));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 5, accepted: 5 });
    expect((await workspace.told('status', `out/sale/${run}`)).state).toMatch(/^abandoned on 2/);
    const { runs } = await workspace.told('runs', 'job.yaml');
    expect(runs).toContainEqual(expect.objectContaining({ run: readRunName(run), state: 'abandoned' }));
    expect(await nobodyTwice(workspace)).toHaveLength(35);
  });

  test('what it did not send, and --again has sent since, is not retried too, whatever became of it: a person gets one message more, not two', async () => {
    const { workspace, run } = await aStoppedRun();
    const directory = `out/sale/${run}`;
    await abandon(workspace, run);
    expect((await workspace.settle(directory, 'not-sent', 10)).code).toBe(0);
    const { directory: waiting } = await workspace.told('retry', directory, '--only', 'not-sent');
    workspace.write('people.csv', people(30));
    workspace.write('job.yaml', JSON.stringify({ ...JSON.parse(workspace.read('job.yaml')), sameText: 'send' }));
    const { plan } = (await workspace.run('--again')).summary;

    const job = ['--job', 'job.yaml'];
    const retries = ['unprocessed', 'not-sent', 'rejected'].map((only) => ['retry', directory, '--only', only, ...job]);
    const why = `run ${plan} has sent people.csv again since`;
    for (const args of [...retries, ['apply', waiting]]) await workspace.expectRefused(args, 2, 'plan-mismatch', why);
    for (const verb of ['status', 'report']) {
      const said = await workspace.said(verb, directory);
      expect([said, said]).toEqual([expect.stringContaining(why), expect.not.stringContaining('volley retry')]);
    }
  });

  test('a plan of a retry that was never sent keeps its rows, for a retry of it alone', async () => {
    const { workspace, run } = await aRunThatEndedEarly();
    await abandon(workspace, run);
    const { plan: first } = await workspace.retry(`out/sale/${run}`, 'unprocessed');

    await abandon(workspace, first);

    expect((await workspace.retry(`out/sale/${run}`, 'unprocessed')).state).toBe('nothing-to-retry');
    const sent = await workspace.resend(`out/sale/${first}`, 'unprocessed');
    expect(sent.summary.balance).toMatchObject({ read: 10, accepted: 10 });
    await expectRefused(workspace, first);
    // By way of a lost memory.
    removeMemory(workspace.path('out/sale'));
    await expectNothingNew(workspace, '--adopt');
    await expectRefused(workspace, run);
    await expectRefused(workspace, first);
    expect(await nobodyTwice(workspace)).toHaveLength(20);
  });

  test('a plan that was abandoned before it was sent had taken nothing: its files are planned anew, and sent once', async () => {
    const workspace = await aJobFor(people(3));
    const { plan } = await workspace.told('plan', 'job.yaml');

    const abandoned = { state: 'abandoned', filesAreFree: true, balance: { unprocessed: 3 } };
    expect(await abandon(workspace, plan)).toMatchObject(abandoned);
    const retry = ['retry', `out/sale/${plan}`, '--only', 'unprocessed'];
    await workspace.expectRefused(retry, 2, 'bad-plan', /was never applied$/);
    expect((await workspace.run()).summary.plan).not.toBe(plan);
    await expectRefused(workspace, plan);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });
});

describe('what a run leaves behind', () => {
  const steps = [anSmsStep({ input: { files: 'people-*.csv' } })];

  test('a command that finishes a run and sends a new file prints and posts both, and ends with the graver exit code', async () => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 });
    const { base: url, bodies } = await aRecorder();
    workspace.write('people-1.csv', people(30));
    workspace.change({ notify: { url, on: ['in-doubt'] }, steps });
    await killAfter(2, workspace, 'run', 'job.yaml');
    workspace.write('people-2.csv', people(5, 101));

    const { balance, earlier, exitCode } = await workspace.told('run', 'job.yaml');

    expect([exitCode, balance]).toMatchObject([3, { read: 5, accepted: 5 }]);
    const first = { exitCode: 3, balance: { accepted: 20, inDoubt: 10 } };
    expect(earlier).toMatchObject([first]);
    const posted = JSON.parse(bodies.at(-1) ?? '{}');
    const second = { exitCode: 0, balance: { accepted: 5 }, steps: [{ number: 1, messages: 5 }] };
    expect(posted.runs).toMatchObject([first, second]);
    expect([posted.run, posted.steps]).toEqual([posted.runs[1].run, posted.runs[1].steps]);
  });

  test('a command that finishes a run, and cannot plan what is new, tells of the run that it finished', async () => {
    const workspace = await aWorkspace({ kind: 'status-401', nth: 2 });
    workspace.write('people-1.csv', people(30));
    workspace.change({ steps });
    expect((await workspace.run()).code).toBe(4);
    workspace.write('people-2.csv', 'name,mobile\n"P1,1\n');

    const { code, summary, stderr } = await workspace.run();

    const earlier = [{ state: 'finished', balance: { accepted: 30 } }];
    expect([code, summary]).toMatchObject([2, { state: 'refused', earlier }]);
    // By what it finished something was.
    expect(stderr).toContain('Nothing more was sent');
  });
});

/** A disk that fails as the memory is to have that a run has begun: its journal is there, and nothing was sent. */
function diesAsItBegins(): Partial<Env> {
  const writeWhole: Files['writeWhole'] = (path, text) =>
    nodeEnv.files.writeWhole(path, (own) => {
      const whole = typeof text === 'string' ? text : text(own);
      const { runs }: MemoryDocument = path.includes('/memory-') ? readSealed(whole) : { runs: [] };
      if (!runs.some(({ begun, ended }) => begun !== undefined && ended === undefined)) return whole;
      throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' });
    });
  return { files: { ...nodeEnv.files, writeWhole } };
}

test.each([
  [
    'did not run',
    {},
    ['campaign 101 may still be PAUSED, as step 1 set it: step 3, which sets it to RUNNING, did not run'],
  ],
  ['ran', { always: true }, []],
])(
  'of a campaign that a run paused, abandon says how it is resumed where the step that resumes it %s',
  async (_, always, said) => {
    const limits = { requestsPerSecond: 100 };
    const set = (status: string) => ({ kind: 'campaign', campaign: 101, set: status, limits });
    const steps = [set('PAUSED'), anSmsStep(), { ...set('RUNNING'), ...always }];
    const workspace = await aJobOfSteps(people(3), steps, { kind: 'status-401', area: 'sms' });
    expect((await workspace.run()).code).toBe(4);

    const { stderr } = await workspace.volley('abandon', workspace.firstRun());

    expect(stderr.match(/campaign 101 may [^`]* did not run/g) ?? []).toEqual(said);
    const [, verb = ''] = /`volley (campaign set [^`]*)`, with --job/.exec(stderr) ?? [];
    if (said.length > 0) await workspace.told(...verb.split(' '), '--job', 'job.yaml');
    const changes = (await workspace.client.entries('campaign')).map(({ requested }) => requested);
    expect(changes).toEqual(['PAUSED', 'RUNNING']);
  },
);

test('a run that died as it began, and whose files another plan sent since, is not resumed', async () => {
  const workspace = await aJobFor(people(3));
  const died = readFailure(await volleyIn(workspace, { runtime: diesAsItBegins() }, 'run', 'job.yaml'));
  expect([died.exitCode, died.error.code]).toEqual([75, 'EIO']);
  const [run = ''] = workspace.plans();
  workspace.change({ steps: [anSmsStep({ template: { source: 'ACME', text: 'Hello {{ name }}' } })] });
  expect((await workspace.volley('apply', await workspace.plan())).code).toBe(0);

  const { stdout, stderr } = await workspace.run();

  expect(JSON.parse(stdout).state).toBe('nothing-new');
  expect(stderr).toContain(`run ${run} is not resumed: it had sent nothing, and another run took its files since`);
  for (let round = 0; round < 2; round++) {
    const retry = ['retry', `out/sale/${run}`, '--only', 'unprocessed'];
    await workspace.expectRefused(retry, 2, 'bad-plan', /was never applied$/);
    expect(await abandon(workspace, run)).toMatchObject({ state: 'abandoned', filesAreFree: true });
  }
  expect((await workspace.run()).stderr).not.toContain('is not resumed');
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

test('of a file that was not sent to its end, plan and run name what has the rest and the command that sends it, and no --again', async () => {
  const { workspace, run } = await aRunThatEndedEarly();
  const expectRest = async (said: string, command: string, verbs = ['plan', 'run']) => {
    for (const verb of verbs) {
      const text = await workspace.said(verb, 'job.yaml');
      const found = [said, command, '--again'].map((words) => text.includes(words));
      expect(found, text).toEqual([true, true, false]);
    }
  };
  const retry = async (only: string) => {
    const command = `retry out/sale/${run} --only ${only}`;
    await expectRest('10 rows of it were not sent, as it was abandoned', `${command} --job job.yaml`);
    const plan = (await workspace.told('retry', `out/sale/${run}`, '--only', only)).directory.split('/').at(-1);
    await expectRest(`${plan.split('-').at(-1)} has 10 rows of it, and is not sent`, `apply out/sale/${plan}`);
    await workspace.volley('apply', `out/sale/${plan}`);
  };

  await expectRest('it is not finished', `status out/sale/${run}`, ['plan']);
  await workspace.told('abandon', `out/sale/${run}`);
  workspace.change({ steps: [anSmsStep({ input: { files: 'people.csv', required: true } })] }, 'required.yaml');
  await workspace.expectRefused(['run', 'required.yaml'], 2, 'missing-input', 'were not sent, as it was');
  await retry('unprocessed');
  await workspace.settle(`out/sale/${run}`, 'not-sent', 10);
  expect(await workspace.said('status', `out/sale/${run}`)).toContain(`retry out/sale/${run} --only not-sent`);
  await retry('not-sent');
  expect(await workspace.said('run', 'job.yaml')).toMatch(/was already sent by run .* --again/);
});
