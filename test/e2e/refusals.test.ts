import { utimesSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, volleyIn, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

test('input that cannot be trusted refuses the plan: exit 2, every problem of every file at once, nothing sent, no plan left', async () => {
  const workspace = await aWorkspace();
  workspace.write('in/good.csv', people(5));
  workspace.write('in/open-quote.csv', 'name,mobile\nAnn,+6591000001\n"Bob,+6591000002\nCid,+6591000003\n');
  workspace.write('in/latin.csv', Buffer.from('name,mobile\nJos\xe9,+6591000004\n', 'latin1'));
  workspace.write('in/cut.csv.gz', gzipSync(people(500)).subarray(0, -40));
  workspace.write('in/twins.csv', 'name,mobile,mobile\nAnn,1,2\n');
  workspace.write('in/no-mobile.csv', 'name,phone\nAnn,+6591000005\n');
  workspace.write('in/empty.csv', '');
  workspace.write('gone.csv', 'mobile\n+6591000001\ncall the desk\n');
  const input = { files: 'in/*' };
  const text = 'Hi {{ name }}, {{ voucher }}';
  workspace.change({
    steps: [
      anSmsStep({ input, template: { text }, suppress: { files: 'gone.csv' } }),
      aContactsStep({ input: { files: ['in/good.csv'] }, fields: { msisdn: 'handy' } }),
    ],
  });

  const ended = await workspace.run();
  const { stderr } = ended;

  const { state, exitCode, error } = readFailure(ended);
  expect([state, exitCode, error.code]).toEqual(['refused', 2, 'bad-input']);
  expect(error.problems).toContainEqual(
    expect.objectContaining({ file: 'gone.csv', line: 3, message: expect.stringContaining('is not a number') }),
  );
  expect(ended.stdout).not.toContain('call the desk');
  expect(stderr).toMatch(/open-quote\.csv\S*: .*quote/);
  expect(stderr).toMatch(/latin\.csv\S*: .*(UTF-8|encoding)/);
  expect(stderr).toMatch(/cut\.csv\.gz\S*: .*(gzip|cut|end)/);
  expect(stderr).toMatch(/twins\.csv\S*: .*\\"mobile\\", and 2 columns have this name/);
  expect(stderr).toMatch(/no-mobile\.csv\S*: .*mobile/);
  expect(stderr).toMatch(/empty\.csv\S*: /);
  expect(stderr).toMatch(/job\.yaml:\d+:\d+: Cannot fill \{\{ voucher \}\}.*\(in in\/good\.csv:1\)/);
  expect(stderr).toMatch(/good\.csv\S*: .*handy/);
  expect(stderr).toMatch(/gone\.csv:3: .*is not a number/);
  expect(stderr).not.toContain('call the desk');
  expect(workspace.directories()).toEqual([]);
  expect(workspace.requests()).toEqual([]);
});

const HOUR_S = 3600;

async function aNightlyJob(input: object): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('inbox/monday.csv', people(3));
  const step = anSmsStep({ input: { files: ['inbox/*.csv'], country: 'SG', ...input } });
  workspace.change({ steps: [step] });
  return workspace;
}

/** Its file was written so long ago. */
function age(workspace: Workspace, name: string, hours: number): void {
  const at = Date.now() / 1000 - hours * HOUR_S;
  utimesSync(workspace.path(name), at, at);
}

describe.concurrent('an export that did not come', () => {
  test('is a failure where the input is required; nothing is sent, and once it comes it is', async () => {
    const workspace = await aNightlyJob({ required: true });
    expect((await workspace.run()).code).toBe(0);

    for (const command of ['run', 'plan']) {
      const { error } = await workspace.refused(command, 'job.yaml');
      expect([error.code, error.message]).toEqual([
        'missing-input',
        expect.stringMatching(
          /no file is new, expected one \(input\.required\): inbox\/monday\.csv was already sent by run/,
        ),
      ]);
    }
    workspace.write('inbox/tuesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
  });

  test('is no failure to the command that finishes the run which took it', async () => {
    const workspace = await aNightlyJob({ required: true });
    const planned = await workspace.told('plan', 'job.yaml');
    workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 1 });
    expect((await workspace.volley('apply', planned.directory)).code).toBe(4);
    workspace.setFaults();
    const { code, summary } = await workspace.run();
    expect([code, summary.plan, summary.balance.accepted]).toEqual([0, planned.plan, 3]);
  });

  test('is a failure where the newest file is too old, taken or not, and none where one is young enough', async () => {
    const workspace = await aNightlyJob({ newerThan: '26h' });
    age(workspace, 'inbox/monday.csv', 27);
    const { error } = await workspace.refused('run', 'job.yaml');
    expect([error.code, error.message]).toEqual([
      'missing-input',
      expect.stringContaining(
        'its newest file, inbox/monday.csv, is 27 h old, expected 26 h at most (input.newerThan)',
      ),
    ]);
    expect(await workspace.destinations()).toEqual([]);

    workspace.write('inbox/tuesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
    // The same again: what came is taken.
    expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');
    age(workspace, 'inbox/tuesday.csv', 30);
    expect((await workspace.refused('run', 'job.yaml')).error.code).toBe('missing-input');
  });
});

test('an inbox of many files that were sent costs one line', async () => {
  const workspace = await aNightlyJob({});
  for (let day = 0; day < 40; day++) workspace.write(`inbox/day-${day}.csv`, people(1, 100 + day));
  expect((await workspace.run()).code).toBe(0);
  const { stdout, stderr } = await workspace.run('--no-json');
  expect(stdout).toMatch(/Nothing new .*\n {2}41 files are skipped, the last of them since .* was already sent by run/);
  expect(stderr.match(/already sent/g)).toHaveLength(1);
});

test('--json=true and --json=false say how a command that is refused is printed', async () => {
  const workspace = await aWorkspace();
  const { stdout, code } = await workspace.finish(workspace.start(['run', 'nowhere.yaml', '--json=false']));
  expect([code, stdout]).toEqual([2, '']);
  const asked = await workspace.finish(workspace.start(['run', 'nowhere.yaml', '--no-json', '--json=true']));
  expect(JSON.parse(asked.stdout)).toMatchObject({ state: 'refused', exitCode: 2 });
});

/** 0, 2, 4 and 75 are shown where what leads to them is tested. */
test.concurrent('exit code 2: flags, verbs, job files, credentials and environments that are not right, and nothing is sent', async () => {
  const workspace = await aJobFor(people(3));
  workspace.change({ colour: 'red', steps: [anSmsStep({ batchsize: 5 })] }, 'typo.yaml');
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
