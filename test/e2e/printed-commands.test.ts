import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERBS } from '../../src/verbs/verbs.js';
import { aJob, anSmsStep, IN_ORDER, numbersOf, people } from './a-job.js';
import { aJobFor, aJobOfSteps, aWorkspaceInProcess as aWorkspace, volleyIn, volleyLater } from './a-workspace.js';
import { nextIn, readAccount as read } from './account.js';
import { readCommands } from './command.js';
import { runCommandInProcess } from './command-in-process.js';

const SOURCES = join(import.meta.dirname, '../../src');

/** With something in place of an argument. */
const COMMAND = new RegExp(`(.)\\bvolley (?:${VERBS.join('|')})(?: (?:drop|--[a-z-]+))* \\$\\{([^}]+)\\}`, 'g');

test('a command that the source prints stands in backticks, so that it is named as the person called it, and quotes what it names', () => {
  const found: string[] = [];
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(SOURCES, name), 'utf8');
    // A word in capitals alone is no file: what is not known is said behind the command.
    if (text.includes('--job JOB')) found.push(`${name}: --job JOB`);
    for (const [command, before, named = ''] of text.matchAll(COMMAND)) {
      // An id is one word.
      const isQuoted = named.startsWith('quoteWord(') || command.includes(' drop ');
      if (before !== '`' || !isQuoted) found.push(`${name}: ${command}`);
    }
  }
  expect(found).toEqual([]);
});

test('commands in hints, warnings and accounts can be copied: their paths are words, from where the person stands', async () => {
  const workspace = await aWorkspace({ kind: 'reset-after', nth: 2 });
  workspace.write('their jobs/people.csv', people(30));
  const job = aJob(workspace, { output: 'my out', steps: [anSmsStep()] });
  workspace.writeJob({ ...job, guards: { requireTest: true } }, 'their jobs/tested.yaml');
  workspace.writeJob(job, 'their jobs/job.yaml');
  const flags = ['--no-json', '--log-format', 'pretty'];
  const at = async (cwd: string, ...args: string[]) => {
    const { stdout, stderr } = await runCommandInProcess([...args, ...flags], { cwd, env: workspace.env });
    const commands = readCommands(`${stderr}\n${stdout}`);
    const paths = commands.flatMap((words) => words.slice(2)).filter((word) => /[ /]/.test(word));
    expect(paths.length, stdout + stderr).toBeGreaterThan(0);
    for (const path of paths) {
      expect(path).toContain(' ');
      expect(existsSync(join(path.startsWith('/') ? '' : cwd, path)), `${path} from ${cwd}`).toBe(true);
    }
    return commands;
  };
  const here = workspace.directory;
  const inside = workspace.path('their jobs');

  const [test1] = await at(here, 'run', 'their jobs/tested.yaml');
  expect(test1?.[3]).toMatch(/^their jobs\/my out\/sale\/[^/]+$/);
  expect((await at(inside, 'run', 'tested.yaml'))[0]?.[3]).toMatch(/^my out\/sale\/[^/]+$/);
  const [settle] = await at(here, 'run', 'their jobs/job.yaml');
  expect(settle?.slice(2)).toEqual(['settle', expect.stringMatching(/^their jobs\//), '--export', 'messages.csv']);
  const [again] = await at(inside, 'run', 'job.yaml');
  expect(again?.slice(2)).toEqual(['run', 'job.yaml', '--again']);
});

test('after a 401 status says what the account says, and account and page name the rows that were not reached', async () => {
  const others = people(2, 30).replace('name,mobile\n', '').replaceAll('+6591', '+4915112');
  const workspace = await aJobFor(people(20) + others, {}, { kind: 'status-401', area: 'sms', nth: 1 });
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([4, { accepted: 0, unprocessed: 22 }]);

  const account = await read(workspace, 'report', 'job.yaml');

  expect(account).toContain('1 sms: 22 not sent → 1-sms.unprocessed.csv\n');
  expect(nextIn(account)).toMatch(/^Next: [\s\S]*key/);
  expect(nextIn(await read(workspace, 'status', 'job.yaml'))).toBe(nextIn(account));
  const page = workspace.read(`${workspace.firstRun()}/report.html`);
  expect(page).toMatch(/the service accepted nothing\.[\s\S]*What was not accepted[\s\S]*not reached by the run/);
});

const OF_NO_SMS = { input: { files: 'people.csv' } };

test.each([
  ['contacts', { fields: { firstName: 'name', msisdn: 'mobile' } }, { kind: 'empty', area: 'contacts', nth: 2 }],
  ['verification.start', { destination: 'mobile' }, { kind: 'reset-after', area: 'verification', nth: 2 }],
  [
    'conversations',
    { channel: 'sandbox-channel', user: { name: 'name' } },
    { kind: 'reset-after', area: 'gateway', nth: 2 },
  ],
] as const)(
  'what is advised of rows in doubt of %s, followed to the letter, leaves none in doubt and no one twice: no message export has them',
  async (kind, step, fault) => {
    const steps = [{ kind, ...OF_NO_SMS, ...step, limits: IN_ORDER }];
    const workspace = await aJobOfSteps(people(3), steps, fault);
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2, inDoubt: 1 });

    const idle = await read(workspace, 'run', 'job.yaml');
    const [status = []] = readCommands(idle.slice(idle.indexOf('Still in doubt')));
    let account = await read(workspace, ...status.slice(2));
    const given: string[] = [];
    for (let round = 0; round < 4 && account !== ''; round++) {
      expect(account).not.toContain('messages.csv');
      const [, , ...command] = readCommands(account.slice(Math.max(0, account.indexOf('Next: '))))[0] ?? [];
      given.push(command[0] ?? '');
      account = command.length === 0 ? '' : await read(workspace, ...command);
    }

    expect(given).toEqual(kind === 'contacts' ? ['settle', 'retry', 'apply', ''] : ['settle', '']);
    expect((await workspace.run()).code).toBe(0);
    const taken = (await workspace.ledger()).filter((entry) => !('outcome' in entry && entry.outcome === 'merged'));
    expect(taken).toHaveLength(3);
  },
);

test('rows in doubt of several steps are decided on step by step: the contact is sent again, and the code is not', async () => {
  const faults = [
    { kind: 'empty', area: 'contacts', nth: 2 },
    { kind: 'reset-after', area: 'verification', nth: 2 },
  ] as const;
  const contacts = { kind: 'contacts', ...OF_NO_SMS, fields: { msisdn: 'mobile' }, limits: IN_ORDER };
  const start = { kind: 'verification.start', ...OF_NO_SMS, destination: 'mobile', limits: IN_ORDER };
  const workspace = await aJobOfSteps(people(3), [contacts, start], ...faults);
  const { summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 4, inDoubt: 2 });
  const both = await workspace.settle(summary.directory, 'sent', 1);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('expected 2')]);

  const given: string[][] = [];
  for (let round = 0; round < 2; round++) {
    const [, , ...command] = readCommands(nextIn(await read(workspace, 'report', 'job.yaml')))[0] ?? [];
    given.push(command.slice(2));
    await workspace.volley(...command);
  }

  expect(given).toEqual([
    ['--assume', 'not-sent', '--step', '1', '--confirm', '1'],
    ['--assume', 'sent', '--confirm', '1'],
  ]);
  const [one, two] = JSON.parse(workspace.read(`${workspace.firstRun()}/summary.json`)).steps;
  expect([one?.balance, two?.balance]).toMatchObject([
    { accepted: 2, unprocessed: 1 },
    { accepted: 3, inDoubt: 0 },
  ]);
});

test('what is advised of numbers that got a code a moment ago sends their rows as they are, once they may get one', async () => {
  const limits = { requestsPerSecond: 100, concurrency: 4 };
  const start = { kind: 'verification.start', ...OF_NO_SMS, destination: 'mobile', whenTooEarly: 'reject', limits };
  const workspace = await aJobOfSteps(people(2), [start, start]);
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2, rejected: 2 });

  const account = await read(workspace, 'report', 'job.yaml');

  expect(account).toContain('      2  the number got a code a moment ago (1400): volley retry, later\n');
  const [, , ...retry] = readCommands(nextIn(account))[0] ?? [];
  expect(retry.slice(-2)).toEqual(['--only', 'rejected']);
  expect(readCommands(nextIn(await read(workspace, ...retry)))[0]?.[2]).toBe('apply');
});

test('a plan with nothing in it says to correct its rows, and names no ledger that is not there', async () => {
  const service = { sandbox: true, bases: undefined, credentials: undefined };
  const workspace = await aJobFor('name,mobile\nAnn,n/a\nBob,x1\n', { service });
  await workspace.plan();

  const account = await read(workspace, 'report', 'job.yaml');

  expect(nextIn(account).replace(/\s+/g, ' ')).toMatch(
    /^Next: there is nothing in it to send: correct the rows in \S+1-sms.rejections.csv/,
  );
  expect(account).not.toMatch(/apply|ledger/);
  expect(nextIn(await read(workspace, 'status', 'job.yaml'))).toBe(nextIn(account));
});

test.each([['test first'], ['approval first']])(
  'whatever says what comes next of a plan names what it lacks of test and approval: %s',
  async (order) => {
    const guards = { requireTest: true, requireApproval: 1 };
    const workspace = await aJobFor(people(20), { guards, testNumbers: ['+6591234567'] });
    expect((await workspace.run()).code).toBe(4);
    const run = workspace.firstRun();
    const commandIn = (account: string) => readCommands(nextIn(account))[0]?.slice(2) ?? [];
    const saidOf = async (verb: string) => commandIn(await read(workspace, verb, run));
    const give = async (command: readonly string[]) => {
      const options = { env: { VOLLEY_ACTOR: 'bob' } };
      return commandIn((await volleyIn(workspace, options, ...command, '--no-json', '--log-level', 'silent')).stdout);
    };
    const planSha256 = JSON.parse((await workspace.volley('status', run)).stdout).approvals.planSha256;
    const approve = ['approve', run, '--confirm', planSha256];
    const tested = ['test', run];

    expect([await saidOf('status'), await saidOf('report')]).toEqual([tested, tested]);
    const [first, second] = order === 'test first' ? [tested, approve] : [approve, tested];
    expect(await give(first!)).toEqual(second);
    expect([await saidOf('status'), await saidOf('report')]).toEqual([second, second]);
    const last = await give(second!);
    expect(last.slice(0, 3)).toEqual(['apply', run, '--confirm']);
    expect([await saidOf('status'), await saidOf('report')]).toEqual([last, last]);
    await give(last);
    expect(await saidOf('status')).toEqual([]);
  },
);

test.each([
  ['the path of the address', (origin: string) => ({ bases: { sms: `${origin}/elsewhere` } })],
  ['the port of the address', () => ({ bases: { sms: 'http://127.0.0.1:1' }, giveUpAfterSeconds: 0 })],
  ['the subaccount', () => ({ subAccountId: 'nobody_at_all' })],
])('what a command advises leads to the end of a job of which %s was wrong', async (_, mistake) => {
  const workspace = await aJobFor(people(30));
  const run = () => workspace.run('--no-json', '--log-format', 'pretty');
  workspace.change({ service: { ...mistake(workspace.sandbox.origin) } });
  const first = await run();
  expect(readCommands(first.stdout).map((words) => words.slice(2))).toEqual([['run', 'job.yaml']]);

  workspace.change();
  const second = await run();
  const letGo = readCommands(second.stderr).find((words) => words[2] === 'abandon') ?? [];
  expect(letGo, second.stderr).not.toEqual([]);
  await workspace.volley(...letGo.slice(2));

  expect((await run()).code).toBe(0);
  expect(await workspace.ledger()).toHaveLength(30);
});

test.each([['a plan of the files'], ['a plan of rows that a run did not reach']])(
  'what apply advises of %s whose time has passed leads to the end: each gets one',
  async (which) => {
    const notAfter = new Date(Date.now() + 60_000).toISOString();
    const workspace = await aJobFor(people(20), { notAfter });
    let run = await workspace.plan();
    if (which !== 'a plan of the files') {
      workspace.setFaults({ kind: 'status-401', nth: 2 });
      await workspace.volley('apply', run);
      run = (await workspace.retry(run, 'unprocessed')).directory;
    }
    const give = (...args: string[]) => volleyLater(workspace, 120_000, ...args);

    const { code, stderr } = await give('apply', run, '--log-format', 'pretty');
    expect(code).toBe(4);
    workspace.change();
    for (const [, , ...command] of readCommands(stderr))
      await give(...command, ...(command[0] === 'retry' ? ['--job', 'job.yaml'] : []));

    const next = readCommands(nextIn((await give('status', 'job.yaml', '--no-json')).stdout))[0]?.slice(2);
    expect((await give(...(next?.[0] === 'apply' ? next : ['run', 'job.yaml']))).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  },
);
