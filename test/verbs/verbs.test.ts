import { expect, test } from 'vitest';
import yargs from 'yargs';
import type { VerbContext } from '../../src/verbs/verb.js';
import { addVerbs } from '../../src/verbs/verbs.js';
import { aCaller } from '../command/a-single-call.js';

/** All verbs, as the command has them; how each command ended is in `ended`. */
function aCommandLine({ terminal }: Pick<ReturnType<typeof aCaller>, 'terminal'>) {
  const ended: unknown[] = [];
  const finish: VerbContext['finish'] = async (command) => {
    ended.push(await command.catch((error) => error));
  };
  const create = async () =>
    (await addVerbs(yargs().scriptName('volley'), { terminal, finish }))
      .demandCommand(1)
      .strict()
      .exitProcess(false)
      .fail((message, error) => {
        throw error ?? new Error(message);
      });
  return {
    ended,
    run: async (...args: string[]) => {
      await (await create()).parseAsync(args);
      return ended.at(-1);
    },
    help: async (...args: string[]) => {
      const cli = await create();
      return new Promise<string>((resolve) => {
        void cli.parseAsync([...args, '--help'], {}, (_error, _argv, output) => resolve(output));
      });
    },
  };
}

const NAMES = [
  'run',
  'check',
  'preview',
  'plan',
  'apply',
  'status',
  'runs',
  'report',
  'settle',
  'retry',
  'cancel',
  'abandon',
  'prune',
  'verify',
  'verify start',
  'verify check',
  'campaign',
  'campaign status',
  'campaign set',
  'chat',
  'chat read',
  'chat post',
  'gateway',
  'gateway webhook',
  'gateway channel',
  'gateway update',
  'gateway send',
  'listen',
  'sandbox',
  'schema',
];

test.each(NAMES)('--help of %s says what it does, and has an example of it', async (name) => {
  const { help } = aCommandLine(aCaller({ sandbox: true }));
  const text = await help(...name.split(' '));
  expect(text).toMatch(new RegExp(`^volley ${name}[^\\n]*\\n\\n[A-Z].{20,}`));
  expect(text).toMatch(new RegExp(`Examples:\\s+volley ${name}\\b`));
});

test.each(NAMES.filter((name) => name.includes(' ')))('%s is not tried without a job', async (name) => {
  const { run, ended } = aCommandLine(aCaller({ sandbox: true }));
  await expect(run(...name.split(' '), 'one', 'RUNNING', '--webhook', '1', '--queue', '2')).rejects.toThrow();
  expect(ended).toEqual([]);
});

test.each([
  ['chat read --page-size x --job', '--page-size is "x"'],
  ['campaign set 101 NEW --job', '"NEW"'],
  ['settle out/x', 'expected one of --export and --assume'],
  ['settle out/x --export a.csv --assume sent', 'expected one of --export and --assume'],
  ['settle out/x --export a.csv --confirm 3', '--confirm is given without --assume'],
  ['settle out/x --assume maybe --confirm 3', '--assume is "maybe"'],
  ['settle out/x --assume not-sent', 'there is no --confirm'],
  ['settle out/x --assume not-sent --confirm all', '--confirm is "all"'],
  ['retry out/x --only in-doubt', '--only is "in-doubt"'],
  ['retry out/x --only rejected --code ,', '--code names no code'],
  ['retry out/x --only not-sent --code 1100', '--code is for --only rejected'],
  ['sandbox --port abc', '--port is "abc"'],
  ['listen --output events.ndjson --port 8e1', '--port is "8e1"'],
  ['listen --output events.ndjson --port 65536', '--port is "65536"'],
])('%s is refused with what was written', async (typed, told) => {
  const { terminal, job } = aCaller({ sandbox: true });
  const { run } = aCommandLine({ terminal });
  const args = typed.split(' ');
  expect(await run(...args, ...(typed.endsWith('--job') ? [job] : []))).toMatchObject({
    name: 'UserError',
    code: 'bad-flag',
    message: expect.stringContaining(told),
  });
});

test.each([
  ['run', 'An argument is missing: 0 given, expected 1', 'run <job>', 'run'],
  ['status', 'An argument is missing: 0 given, expected 1', 'status <run>', 'status'],
  [
    'campaign set 101',
    'An argument is missing: 1 given, expected 2',
    'campaign set <id> <status> --job <file>',
    'campaign set',
  ],
  ['retry out/sale/x', 'Missing: --only', 'retry <run> --only rejected', 'retry'],
  ['prune a.yaml', 'Missing: --older-than', 'prune <job> --older-than 90d', 'prune'],
  ['plan --foo a.yaml', 'There is no --foo', 'plan <job>', 'plan'],
  ['prune a.yaml --oldr-than 90d', 'There is no --oldr-than', 'prune <job> --older-than 90d', 'prune'],
  ['verify start +6590000001', 'Missing: --job', 'verify start <number> --job <file>', 'verify start'],
  ['chat read --roon ops --job a.yaml', 'Unknown: roon', 'chat read --job <file>', 'chat read'],
  ['gateway frob', 'Unknown: frob', 'gateway webhook|channel|update|send', 'gateway'],
  ['gateway', 'Name what to do: webhook, channel, update or send.', 'gateway webhook|channel|update|send', 'gateway'],
  ['schema x', 'Unknown: x', 'schema', 'schema'],
  ['settle out/sale/x --export', '--export is given without its value', 'settle <run>', 'settle'],
])('the misuse "%s" is reported before anything else, without the whole help', async (typed, told, usage, verb) => {
  const left: number[] = [];
  const caller = aCaller({ sandbox: true });
  const leave = (exitCode: number) => {
    left.push(exitCode);
    throw new Error('left');
  };
  const { run, ended } = aCommandLine({ terminal: { ...caller.terminal, leave } });
  await expect(run(...typed.split(' '))).rejects.toThrow('left');
  expect(caller.said.stderr).toBe(`${told}\nUsage: volley ${usage}; see volley ${verb} --help\n`);
  expect([left, ended]).toEqual([[2], []]);
});

test('--help of verify check says when a code is checked', async () => {
  const text = await aCommandLine(aCaller({ sandbox: true })).help('verify', 'check');
  expect(text.replace(/\s+/g, ' ')).toContain('Checked only while the session waits');
});

test('listen takes its flags, and ends with a signal', async () => {
  const caller = aCaller({ sandbox: true }, { HOOK_SECRET: 'correct-horse-battery' });
  const { run } = aCommandLine(caller);
  const output = `${caller.directory}/events.ndjson`;
  const ended = run('listen', '--port', '0', '--output', output, '--secret-env', 'HOOK_SECRET');
  await expect.poll(() => caller.said.stdout, { interval: 2, timeout: 30_000 }).toContain('\n');
  expect(JSON.parse(caller.said.stdout)).toMatchObject({ path: '/hook/<secret>', output });
  caller.signal();
  expect(await ended).toBe(0);
});
