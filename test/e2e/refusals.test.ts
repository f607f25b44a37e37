import { once } from 'node:events';
import { existsSync, utimesSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, volleyIn, volleyLater, type Workspace } from './a-workspace.js';
import { readFailure } from './command.js';

test('input that cannot be trusted refuses the plan: exit 2, every problem of every file at once, nothing sent, no plan left', async () => {
  const workspace = await aJobFor(people(5));
  const FILES: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ['open-quote.csv', 'name,mobile\nAnn,+6591000001\n"Bob,+6591000002\nCid,+6591000003\n', /quote/],
    ['latin.csv', Buffer.from('name,mobile\nJos\xe9,+6591000004\n', 'latin1'), /UTF-8|encoding/],
    ['cut.csv.gz', gzipSync(people(500)).subarray(0, -40), /gzip|cut|end/],
    ['twins.csv', 'name,mobile,mobile\nAnn,1,2\n', /"mobile", and 2 columns have this name/],
    ['no-mobile.csv', 'name,phone\nAnn,+6591000005\n', /mobile/],
    ['empty.csv', '', /./],
  ];
  for (const [name, content] of FILES) workspace.write(`in/${name}`, content);
  workspace.write('in/good.csv', people(5));
  workspace.write('gone.csv', 'mobile\n+6591000001\ncall the desk\n');
  const text = 'Hi {{ name }}, {{ voucher }}';
  workspace.change({
    steps: [
      anSmsStep({ input: { files: 'in/*' }, template: { text }, suppress: { files: 'gone.csv' } }),
      aContactsStep({ input: { files: ['in/good.csv'] }, fields: { msisdn: 'handy' } }),
    ],
  });

  const ended = await workspace.run();

  const { state, exitCode, error } = readFailure(ended);
  expect([state, exitCode, error.code]).toEqual(['refused', 2, 'bad-input']);
  const said = error.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n');
  for (const [name, , what] of FILES) expect(said).toMatch(new RegExp(`${name}\\S*: .*(${what.source})`));
  expect(said).toMatch(/gone\.csv:3: .*is not a number/);
  expect(said).toMatch(/good\.csv\S*: .*handy/);
  expect(said).toMatch(/Cannot fill \{\{ voucher \}\}/);
  expect(ended.stderr).toMatch(/job\.yaml:\d+:\d+: Cannot fill \{\{ voucher \}\}.*\(in in\/good\.csv:1\)/);
  expect(ended.stdout + ended.stderr).not.toContain('call the desk');
  expect([workspace.directories(), workspace.requests()]).toEqual([[], []]);
});

async function aNightlyJob(input: object): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('inbox/monday.csv', people(3));
  workspace.change({ steps: [anSmsStep({ input: { files: ['inbox/*.csv'], country: 'SG', ...input } })] });
  return workspace;
}

/** Its file was written so long ago. */
function age(workspace: Workspace, name: string, hours: number): void {
  const at = Date.now() / 1000 - hours * 3600;
  utimesSync(workspace.path(name), at, at);
}

/** The command is refused, an hour from now, as an export did not come. */
async function expectMissing(workspace: Workspace, message: string, verb = 'run'): Promise<void> {
  const { error } = readFailure(await volleyLater(workspace, 3_600_000, verb, 'job.yaml'));
  expect(error).toMatchObject({ code: 'missing-input', message: expect.stringContaining(message) });
}

describe.concurrent('an export that did not come', () => {
  test('is a failure where the input is required; nothing is sent, and once it comes it is', async () => {
    const workspace = await aNightlyJob({ required: true });
    expect((await workspace.run()).code).toBe(0);

    const said = 'no file is new, expected one (input.required): inbox/monday.csv was already sent by run';
    for (const verb of ['run', 'plan']) await expectMissing(workspace, said, verb);
    workspace.write('inbox/tuesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
  });

  test('is a failure where it came without a row, which a file with rows makes good', async () => {
    const workspace = await aNightlyJob({ required: true });
    expect((await workspace.run()).code).toBe(0);
    workspace.write('inbox/tuesday.csv', 'name,mobile\n');
    for (const verb of ['run', 'plan']) {
      const said = 'no new file has a row, expected one (input.required): inbox/tuesday.csv has none';
      await expectMissing(workspace, said, verb);
    }
    expect(workspace.runs()).toHaveLength(1);

    workspace.write('inbox/wednesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
  });

  test('is a failure where the newest file is too old, taken or not, and none where one is young enough', async () => {
    const workspace = await aNightlyJob({ newerThan: '26h' });
    age(workspace, 'inbox/monday.csv', 26);
    const said = 'its newest file, inbox/monday.csv, is 27 h old, expected 26 h at most (input.newerThan)';
    await expectMissing(workspace, said);
    expect(await workspace.destinations()).toEqual([]);

    workspace.write('inbox/tuesday.csv', people(2, 10));
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), ...numbersOf(2, 10)]);
    // The same again: what came is taken.
    expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');
    age(workspace, 'inbox/tuesday.csv', 30);
    await expectMissing(workspace, 'input.newerThan');
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

test('an address that is taken, or not of this machine, is refused before anything is done, whatever is to listen there', async () => {
  const workspace = await aJobFor(people(3));
  for (const name of ['Ann', 'Bob'])
    await workspace.told('console', '--users', 'users.csv', '--add', name, '--role', 'approver');
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const port = `${(holder.address() as AddressInfo).port}`;
  const elsewhere = ['--host', '192.0.2.1', '--users', 'users.csv', '--origin', 'https://x.example'];
  for (const args of [
    ['run', 'job.yaml', '--metrics-port', port],
    ['run', 'job.yaml', '--metrics-port', '0', '--metrics-host', '192.0.2.1'],
    ['listen', '--output', 'events.ndjson', '--port', port],
    ['sandbox', '--port', port],
    ['sandbox', '--host', '192.0.2.1'],
    ['console', '--port', port],
    ['console', '--port', '0', ...elsewhere],
  ]) {
    await workspace.expectRefused(args, 2, 'bad-flag', 'expected a free address of this machine');
  }
  holder.close();
  expect([existsSync(workspace.path('out')), workspace.requests()]).toEqual([false, []]);
});

test('a path that is given and cannot be used is refused, whatever it is for', async () => {
  const workspace = await aJobFor(people(3));
  workspace.change({ optOuts: 'people.csv/list.csv' }, 'lists.yaml');
  await workspace.run();
  const [run = ''] = workspace.directories();
  for (const args of [
    ['proof', workspace.path(run), '--output', 'people.csv/proof'],
    ['sandbox', '--port', '0', '--data', 'people.csv/data'],
    ['console', '--port', '0', '--directory', 'people.csv/home'],
    ['console', '--users', 'people.csv/users', '--add', 'Ann', '--role', 'viewer'],
    ['listen', '--port', '0', '--output', 'people.csv/events'],
    ['listen', '--port', '0', '--opt-outs', 'people.csv/opt-outs.csv'],
    ['init', 'people.csv', '--output', 'people.csv/job.yaml'],
    ['people', 'opt-out', 'lists.yaml', '+6591000001'],
  ]) {
    const { state, exitCode, error } = await workspace.refused(...args);
    expect({ args, state, exitCode, ...error }).toMatchObject({ args, state: 'refused', exitCode: 2 });
  }
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
  const CASES: readonly (readonly [string[], RegExp, Record<string, string>?])[] = [
    [['run', 'job.yaml', '--agian'], /agian/],
    [['run', 'none.yaml'], /none\.yaml/],
    [['run', 'typo.yaml'], /batchSize.*colour/s],
    [['run', 'job.yaml'], /VOLLEY_API_KEY/, { VOLLEY_API_KEY: '' }],
    [['run', 'job.yaml'], /NODE_TLS_REJECT_UNAUTHORIZED/, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
    [['apply', 'no-such-run'], /no-such-run/],
  ];
  for (const [args, said, env = {}] of CASES) {
    const ended = await volleyIn(workspace, { env }, ...args);
    expect(readFailure(ended), args.join(' ')).toMatchObject({ state: 'refused', exitCode: 2 });
    expect(ended.stderr).toMatch(said);
  }
  expect(workspace.requests()).toEqual([]);
});
