import { expect, test } from 'vitest';
import { aContactsStep, anSmsStep, aStepForTomorrow, numbersOf, people } from './a-job.js';
import { aJobFor } from './a-workspace.js';
import { nextIn, readAccount as read } from './account.js';
import { readCommands } from './command.js';

test.each([
  ['other steps', { steps: [aContactsStep(), aStepForTomorrow()] }],
  ['another account', { steps: [aStepForTomorrow()], service: { account: 'umbrella' } }],
  ['another text', { steps: [anSmsStep({ template: { source: 'ACME', text: 'Dear {{ name }}' } })] }],
])(
  'what cancel and status advise of what was taken back is not refused in a job that has %s by now',
  async (_, changes) => {
    const workspace = await aJobFor(people(20), { steps: [aStepForTomorrow()] });
    await workspace.run();
    workspace.change(changes);

    const advised = nextIn(await read(workspace, 'cancel', 'job.yaml'));
    expect(nextIn(await read(workspace, 'status', 'job.yaml'))).toBe(advised);
    const retried = await workspace.volley(...(readCommands(advised)[0]?.slice(2) ?? []));

    expect([retried.code, JSON.parse(retried.stdout).state], advised).toEqual([0, 'planned']);
  },
);

test('what plan advises while a sample waits for a person leads to the rest', async () => {
  const workspace = await aJobFor(people(20));
  await workspace.run('--first', '3');

  let account = await read(workspace, 'plan', 'job.yaml');
  const given: string[] = [];
  for (let round = 0; round < 2; round++) {
    const [, , ...command] = readCommands(nextIn(account))[0] ?? [];
    given.push(command[0] ?? '');
    account = await read(workspace, ...command);
  }

  expect(given).toEqual(['status', 'apply']);
  expect(await workspace.destinations()).toEqual(numbersOf(20));
});

test('a plan that a guard refuses is not advised to be sent', async () => {
  const workspace = await aJobFor(people(2), { guards: { maxMessages: 1 } });
  await workspace.volley('plan', 'job.yaml');

  const next = nextIn(await read(workspace, 'status', 'job.yaml'));
  expect(next).toMatch(/fix the input, or change the job if this is right, and plan it again: 2\smessages/);
  const { error } = await workspace.refused('run', 'job.yaml');
  expect(error.hint).toMatch(/^Nothing was sent\. Fix the input, or .*; then run the same command again\.$/);
  expect(readCommands(next)).toEqual([]);
});

test('a plan of rows that are all held again says what makes it again, and calls it no other plan', async () => {
  const frequency = { max: 1, per: '7d' };
  const workspace = await aJobFor(people(2), { sameText: 'send' });
  await workspace.run();
  workspace.change({ frequency, steps: [anSmsStep({ template: { source: 'ACME', text: 'Dear {{ name }}' } })] });
  const run = (await workspace.run('--again')).summary.directory;

  for (let round = 0; round < 2; round++) {
    const account = await read(workspace, 'retry', run, '--only', 'too-often');
    expect(account).toContain('There is nothing in it to send. Once some of its rows may be sent, the same command');
    expect(account).not.toContain('other plans');
  }
});

test('a job whose rows are all pruned is not told to run it first, and a preview without such a message not that nothing is sent', async () => {
  const workspace = await aJobFor(people(2));
  expect(await read(workspace, 'preview', 'job.yaml', '--ucs2')).toBe('There is no such message to send.\n');
  await workspace.run();
  await workspace.volley('prune', 'job.yaml', '--older-than', '0m');

  for (const verb of ['status', 'report', 'proof'])
    expect((await workspace.expectRefused([verb, 'job.yaml'], 2, 'bad-plan', 'were pruned')).hint).toContain(' runs ');
});

test.each([['apply'], ['abandon']])('a test of a plan does not say to send it after %s', async (verb) => {
  const workspace = await aJobFor(people(2));
  const plan = await workspace.plan();
  const { directory } = await workspace.told('test', plan, '--to', '+6591234567');
  expect(nextIn(await read(workspace, 'report', directory))).toContain('send the plan');
  await workspace.volley(verb, plan);

  for (const again of [
    ['report', directory],
    ['test', plan, '--to', '+6591234567'],
  ])
    expect(nextIn(await read(workspace, ...again))).toBe('');
});

test('rows that are held are said before rows that are rejected, which stay in the account when they are sent', async () => {
  const workspace = await aJobFor(people(2));
  await workspace.run();
  workspace.write('people.csv', `${people(2)}Bob,x1\n`);
  await workspace.run();

  const idle = await read(workspace, 'run', 'job.yaml');
  expect(idle).toContain('2 rows of it are held, and none was sent');
  expect(readCommands(nextIn(idle))[0]).toEqual(expect.arrayContaining(['retry', '--only', 'had-it-already']));

  let account = await read(workspace, 'report', 'job.yaml');
  expect(nextIn(account).replace(/\s+/g, ' ')).toContain('by sameText: skip in the job. Only to send it to them again');
  for (const verb of ['retry', 'apply']) {
    const [, , ...command] = readCommands(nextIn(account))[0] ?? [];
    expect(command[0]).toBe(verb);
    account = await read(workspace, ...command);
  }

  expect(await workspace.destinations()).toEqual([...numbersOf(2), ...numbersOf(2)].sort());
  expect(nextIn(await read(workspace, 'report', workspace.firstRun()))).not.toContain('held');
});

test('rows that are held are no advice where failOn does not count them: each night of a growing export would advise to send again', async () => {
  const workspace = await aJobFor(people(2), { failOn: 'in-doubt' });
  await workspace.run();
  workspace.write('people.csv', `${people(2)}Bob,x1\n`);

  const account = await read(workspace, 'run', 'job.yaml');

  expect(account).toContain('2 had exactly this text');
  expect(nextIn(account)).toContain('correct the rows in');
});
