import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { quoteWord } from '../../src/domain/errors.js';
import { aContactsStep, type aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspace, type Workspace } from './a-workspace.js';
import { COMMAND, until } from './command.js';
import { runCommandInProcess } from './command-in-process.js';
import { readFailure } from './failure.js';
import { needTerminal } from './of-the-machine.js';

/** A live job for so many people, and its command at a terminal where a person types. */
async function aLiveJob(count: number, changes: Parameters<typeof aJob>[1] = {}) {
  const workspace = await aJobFor(people(count), changes);
  const at = (typed: readonly string[], ...args: string[]) =>
    runCommandInProcess(args, { cwd: workspace.directory, env: workspace.env, typed, runtime: AT_NINE });
  return { workspace, at };
}

const AT_NINE = { clock: { ...nodeEnv.clock, now: () => Date.parse('2026-11-26T09:00:00Z') } };

const PRICES = { prices: { file: 'prices.csv', currency: 'EUR' } };

test('run asks at a terminal before anything is sent; another answer keeps the plan, and names the command that sends it', async () => {
  const { workspace, at } = await aLiveJob(30, PRICES);
  workspace.write('prices.csv', 'country,sms\nSG,0.05\n');

  const refused = await at(['29'], 'run', 'job.yaml');

  const [run = ''] = workspace.runs();
  const [id] = workspace.plans();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`Plan ${id} of job sale`);
  expect(refused.stderr).toContain('30 people · 1.50 EUR · from ACME · now, for about 1 s.\nType 30 to send: ');
  expect(readFailure(refused).error).toMatchObject({
    code: 'not-confirmed',
    message: 'Nothing was sent: the answer was not 30',
    hint: `The plan is kept. To send it: \`volley apply ${workspace.path(`out/sale/${run}`)} --confirm ${id}\`.`,
  });
  expect(workspace.requests()).toEqual([]);

  expect((await at([], 'apply', `out/sale/${run}`)).code).toBe(2);
  expect((await at(['30'], 'apply', `out/sale/${run}`)).code).toBe(0);
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

    expect(ran.code).toBe(code);
    expect(ran.stderr).not.toContain('Type');
    if (code !== 0) expect(readFailure(ran).error.code).toBe('plan-mismatch');
    expect(await workspace.destinations()).toEqual(code === 0 ? numbersOf(30) : []);
  }
});

test('nothing is asked without a terminal, for a program that reads JSON, and of the embedded sandbox', async () => {
  const live = await aLiveJob(3);
  expect((await live.workspace.run()).code).toBe(0);
  const program = await aLiveJob(3);
  expect((await program.at([], 'run', 'job.yaml', '--json')).code).toBe(0);
  const service = { sandbox: true, credentials: undefined, bases: undefined };
  const sandbox = await aLiveJob(3, { service });
  expect((await sandbox.at([], 'run', 'job.yaml')).code).toBe(0);
});

test('what is left of a run is asked for when it is resumed, and what is new after it', async () => {
  const { workspace, at } = await aLiveJob(30);
  workspace.setFaults({ kind: 'status-401', nth: 2 });
  expect((await at(['30'], 'run', 'job.yaml')).code).toBe(4);
  workspace.setFaults();

  const refused = await at(['30'], 'run', 'job.yaml');
  expect(refused.stderr).toMatch(/Left of run \w+: 20 people · from ACME · now, for about 1 s\.\nType 20 to send: /);
  expect(refused.code).toBe(2);

  workspace.write('more.csv', people(5, 100));
  workspace.change({ steps: [anSmsStep({ input: { files: ['people.csv', 'more.csv'] } })] });
  expect((await at(['20', '6'], 'run', 'job.yaml')).code).toBe(2);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  expect((await at(['5'], 'run', 'job.yaml', '--again')).code).toBe(2);
  expect((await at([' 5\n'], 'run', 'job.yaml')).code).toBe(0);
  expect(await workspace.destinations()).toHaveLength(35);
});

test('the question says scheduled times, several senders, notBefore, and steps of other kinds; 1,200 may be typed as it is shown', async () => {
  const sms = (source: string, scheduled?: string) =>
    anSmsStep({ batchSize: 1000, template: { source, text: 'Hi {{ name }}', scheduled } });
  const { workspace, at } = await aLiveJob(1200, {
    steps: [aContactsStep({ input: { files: 'few.csv' } }), sms('ACME'), sms('LADEN', '2026-11-27T10:00:00+01:00')],
  });
  workspace.write('few.csv', people(3));

  const { stderr, code } = await at(['2,400'], 'run', 'job.yaml');

  expect(stderr.replaceAll('\n  ', ' ')).toContain(
    '2,400 messages · 3 contacts · from ACME and LADEN · now, for about 3 s · on 27 November 2026 at 10:00 UTC+01:00.\nType 2400 to send: ',
  );
  expect(code).toBe(0);
  expect(await workspace.sms()).toHaveLength(2400);
});

const terminal = needTerminal();

test.skipIf(terminal.isMissing)(
  terminal.title('a process on a terminal reads the answer, and ends; Ctrl-C at the question ends it with 75'),
  async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(30));
    workspace.change();
    const ask = async (typed: string) => {
      const { said, ended, type, end } = startOnTerminal(workspace as Workspace, 'run job.yaml');
      await until(() => said.text.includes('Type 30 to send: '));
      type(typed);
      await until(() => said.text.includes('ended with'));
      end();
      await ended;
      return said.text;
    };

    expect(await ask('\u0003')).toContain('ended with 75');
    expect(await ask('yes\n')).toContain('ended with 2');
    expect(workspace.requests()).toEqual([]);
    expect(await ask('30\n')).toContain('ended with 0');
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  },
);

const ERASE = '\u001b[K';

/** What stands on the terminal at last. */
function readScreen(text: string): string[] {
  const lines = [''];
  for (const piece of text.replaceAll(ERASE, '').split(/(\r\n|\n|\r)/)) {
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
    const workspace = await aWorkspace({ kind: 'stall', nth: 4 });
    workspace.write('people.csv', people(50));
    workspace.change({ steps: [anSmsStep({ batchSize: 1 })] });
    const { said, ended, type, end } = startOnTerminal(workspace, 'run job.yaml --yes');
    await until(() => workspace.requests().length === 4 && said.text.includes('3 of 50'));

    type('\u0003');
    await until(() => said.text.includes('again: stop at once'));
    type('\u0003');
    await until(() => said.text.includes('ended with 75'));
    end();
    await ended;

    const screen = readScreen(said.text);
    expect(screen).toContain('! SIGINT: nothing new is sent; waiting for what is in flight (again: stop at once)');
    expect(screen).toContain('✗ SIGINT again: stops at once with exit code 75, without waiting for what is in flight');
    expect(screen).toContain('ended with 75');
    expect(screen.join('\n')).not.toMatch(/[█░]/);
    // Neither the cursor is hidden nor wrapping off, so that nothing is left to restore, also by SIGKILL.
    expect(said.text).not.toContain('\u001b[?');
  },
);

/** The command on a terminal of a hundred columns; `type` is what a person types. */
function startOnTerminal({ directory, env }: Workspace, args: string) {
  const command = `trap : INT; stty cols 100; ${quoteWord(process.execPath)} ${quoteWord(COMMAND)} ${args}; echo "ended with $?"`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: directory, env: { ...env, TERM: 'xterm' } });
  const said = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.text += text;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { said, ended, type: (text: string) => child.stdin.write(text), end: () => child.stdin.end() };
}
