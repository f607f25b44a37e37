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

  for (const verb of ['status', 'report', 'proof']) {
    const { error } = await workspace.refused(verb, 'job.yaml');
    expect([error.message, error.hint]).toEqual([
      expect.stringContaining('were pruned'),
      expect.stringContaining(' runs '),
    ]);
  }
});
