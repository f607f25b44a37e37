import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { quoteWord } from '../../src/domain/errors.js';
import { aContactsStep, type aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, volleyIn, type Workspace } from './a-workspace.js';
import { COMMAND, readFailure, until } from './command.js';
import { needTerminal } from './of-the-machine.js';

const AT_NINE = { clock: { ...nodeEnv.clock, now: () => Date.parse('2026-11-26T09:00:00Z') } };

/** A live job for so many people, and its command at a terminal where a person types. */
async function aLiveJob(count: number, changes: Parameters<typeof aJob>[1] = {}) {
  const workspace = await aJobFor(people(count), changes);
  const at = (typed: readonly string[], ...args: string[]) => volleyIn(workspace, { typed, runtime: AT_NINE }, ...args);
  return { workspace, at, run: (...typed: string[]) => at(typed, 'run', 'job.yaml') };
}

test('run asks at a terminal before anything is sent; another answer keeps the plan, and names the command that sends it', async () => {
  const { workspace, at, run } = await aLiveJob(30, { prices: { file: 'prices.csv', currency: 'EUR' } });
  workspace.write('prices.csv', 'country,sms\nSG,0.05\n');

  const refused = await run('29');

  const [directory, [id]] = [workspace.firstRun(), workspace.plans()];
  expect(refused.stderr).toContain(`Plan ${id} of job sale`);
  expect(refused.stderr).toContain('30 people · 1.50 EUR · from ACME · now, for about 1 s.\nType 30 to send: ');
  const error = {
    code: 'not-confirmed',
    message: `Cannot send plan ${id}: the answer was not 30`,
    hint: `Nothing was sent. The plan is kept. To send it: \`volley apply ${workspace.path(directory)} --confirm ${id}\`.`,
  };
  expect(readFailure(refused)).toMatchObject({ exitCode: 2, error });
  expect(workspace.requests()).toEqual([]);

  expect((await at([], 'apply', directory)).code).toBe(2);
  expect((await at(['30'], 'apply', directory)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test.each([
  ['--yes', 0],
  ['--confirm=30', 0],
  ['--confirm=31', 2],
  ['--confirm=k3v9q2m8x4aa', 2],
])('%s answers before the question, at a terminal and without one', async (flag, code) => {
  for (const isAtTerminal of [true, false]) {
    const { workspace, at } = await aLiveJob(30);

    const ran = isAtTerminal ? await at([], 'run', 'job.yaml', flag) : await workspace.run(flag);

    expect([ran.code, ran.stderr]).toEqual([code, expect.not.stringContaining('Type')]);
    if (code !== 0) expect(readFailure(ran).error.code).toBe('plan-mismatch');
    expect(await workspace.destinations()).toEqual(code === 0 ? numbersOf(30) : []);
  }
});

test('nothing is asked without a terminal, for a program that reads JSON, and of the embedded sandbox', async () => {
  const live = await aLiveJob(3);
  expect((await live.workspace.run()).code).toBe(0);
  expect((await live.at([], 'run', 'job.yaml', '--json', '--again')).code).toBe(0);
  const sandbox = await aLiveJob(3, { service: { sandbox: true, credentials: undefined, bases: undefined } });
  expect((await sandbox.run()).code).toBe(0);
});

test('what is left of a run is asked for when it is resumed, and what is new after it', async () => {
  const { workspace, at, run } = await aLiveJob(30);
  workspace.setFaults({ kind: 'status-401', nth: 2 });
  expect((await run('30')).code).toBe(4);

  const refused = await run('30');
  expect(refused.stderr).toMatch(/Left of run \w+: 20 people · from ACME · now, for about 1 s\.\nType 20 to send: /);
  expect(refused.code).toBe(2);

  workspace.write('more.csv', people(5, 100));
  workspace.change({ steps: [anSmsStep({ input: { files: ['people.csv', 'more.csv'] } })] });
  const second = await run('20', '6');
  expect(second.code).toBe(2);
  expect(second.stdout + second.stderr).toContain('Nothing more was sent. The plan is kept.');
  expect(second.stdout + second.stderr).not.toMatch(/nothing was sent/i);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  expect((await at(['5'], 'run', 'job.yaml', '--again')).code).toBe(2);
  expect((await run(' 5\n')).code).toBe(0);
  expect(await workspace.destinations()).toHaveLength(35);
});

test('the question says scheduled times, several senders, notBefore, and steps of other kinds; 1,200 may be typed as it is shown', async () => {
  const sms = (source: string, scheduled?: string) =>
    anSmsStep({ batchSize: 1000, template: { source, text: 'Hi {{ name }}', scheduled } });
  const contacts = aContactsStep({ input: { files: 'few.csv' } });
  const steps = [contacts, sms('ACME'), sms('LADEN', '2026-11-27T10:00:00+01:00')];
  const { workspace, run } = await aLiveJob(1200, { steps });
  workspace.write('few.csv', people(3));

  const { stderr, code } = await run('2,400');

  expect(stderr.replaceAll('\n  ', ' ')).toContain(
    '2,400 messages · 3 contacts · from ACME and LADEN · now, for about 3 s · on 27 November 2026 at 10:00 UTC+01:00.\nType 2400 to send: ',
  );
  expect([code, (await workspace.sms()).length]).toEqual([0, 2400]);
});

test('a number that stands twice and gets both messages is not two people', async () => {
  const { workspace, run } = await aLiveJob(2, { sameText: 'send', steps: [anSmsStep({ duplicates: 'keep' })] });
  workspace.write('people.csv', `${people(2)}${people(2).replace('name,mobile\n', '')}`);

  const { stderr, code } = await run('4');

  expect(stderr).toContain('4 messages · from ACME · now, for about 1 s.\nType 4 to send: ');
  expect([code, (await workspace.sms()).length]).toEqual([0, 4]);
});

const terminal = needTerminal();
const CTRL_C = '\u0003';

/** The command on a terminal of a hundred columns, where a person types each text once what is shown says so; gives all that was shown. */
async function onTerminal(workspace: Workspace, args: string, ...typed: (readonly [() => boolean | string, string])[]) {
  const command = `trap : INT; stty cols 100; ${quoteWord(process.execPath)} ${quoteWord(COMMAND)} ${args}; echo "ended with $?"`;
  const env = { ...workspace.env, TERM: 'xterm' };
  const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: workspace.directory, env });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const isShown = (is: boolean | string) => (typeof is === 'string' ? shown.includes(is) : is);
  for (const [when, text] of typed) {
    await until(() => isShown(when()));
    child.stdin.write(text);
  }
  await until(() => isShown('ended with'));
  child.stdin.end();
  await ended;
  return shown;
}

test.skipIf(terminal.isMissing)(
  terminal.title('a process on a terminal reads the answer, and ends; Ctrl-C at the question ends it with 75'),
  async () => {
    const workspace = await aJobFor(people(30));
    const answer = (text: string) => onTerminal(workspace, 'run job.yaml', [() => 'Type 30 to send: ', text]);

    expect(await answer(CTRL_C)).toContain('ended with 75');
    expect(await answer('yes\n')).toContain('ended with 2');
    expect(workspace.requests()).toEqual([]);
    expect(await answer('30\n')).toContain('ended with 0');
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  },
);

test.skipIf(terminal.isMissing)(
  terminal.title('a process whose terminal is gone ends with its exit code, where Node alone would abort'),
  async () => {
    const workspace = await aJobFor(people(30));
    workspace.write('code', '');
    const command = `trap : HUP; ${quoteWord(process.execPath)} ${quoteWord(COMMAND)} run job.yaml; echo $? > code`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: workspace.directory, env: workspace.env });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text;
    });
    await until(() => shown.includes('Type 30 to send: '));
    child.kill('SIGKILL');
    await until(() => workspace.read('code') !== '');
    // By the end of its input, or by the signal.
    expect(['2\n', '75\n']).toContain(workspace.read('code'));
  },
);

/** What stands on the terminal at last. */
function readScreen(text: string): string[] {
  const lines = [''];
  for (const piece of text.replaceAll('\u001b[K', '').split(/(\r\n|\n|\r)/)) {
    if (piece === '\n' || piece === '\r\n') lines.push('');
    else if (piece === '\r') lines[lines.length - 1] = '';
    else lines[lines.length - 1] += piece;
  }
  return lines;
}

test.skipIf(terminal.isMissing)(
  terminal.title(
    'warnings stand on lines of their own above the bar; after a second Ctrl-C it is gone, and the terminal is as it was',
  ),
  async () => {
    const workspace = await aJobFor(people(50), { steps: [anSmsStep({ batchSize: 1 })] }, { kind: 'stall', nth: 4 });
    const shown = await onTerminal(
      workspace,
      'run job.yaml --yes',
      [() => workspace.requests().length === 4 && '3 of 50', CTRL_C],
      [() => 'again: stop at once', CTRL_C],
    );

    const screen = readScreen(shown);
    expect(screen).toContain('! SIGINT: nothing new is sent; waiting for what is in flight (again: stop at once)');
    expect(screen).toContain('✗ SIGINT again: stops at once with exit code 75, without waiting for what is in flight');
    expect(screen).toContain('ended with 75');
    expect(screen.join('\n')).not.toMatch(/[█░]/);
    // Neither the cursor is hidden nor wrapping off, so that nothing is left to restore, also by SIGKILL.
    expect(shown).not.toContain('\u001b[?');
  },
);
