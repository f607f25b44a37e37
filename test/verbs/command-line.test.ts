import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { type AnyVerb, nameOf } from '../../src/verbs/verb.js';
import { LIST } from '../../src/verbs/verbs.js';
import { aTerminal } from '../command/a-terminal.js';

/** What the command line says to what is typed, and what it throws. */
async function give(typed: string | readonly string[]) {
  const { terminal, said } = aTerminal();
  const args = typeof typed === 'string' ? typed.split(' ').filter((word) => word !== '') : typed;
  const ended = await runCommandLine(args, terminal, 200).then(
    (code) => ({ code, error: undefined }),
    (error) => ({ code: undefined, error }),
  );
  return { ...ended, ...said };
}

/** Each verb, and each below it. */
const VERBS = await Promise.all(
  LIST.map(async ({ command, load }): Promise<[name: string, verb: AnyVerb][]> => {
    const loaded = await load();
    if (!('map' in loaded)) return [[nameOf(command), loaded]];
    return loaded.map((below) => [`${command} ${nameOf(below.command)}`, below]);
  }),
).then((found) => found.flat());

test.each(VERBS.map(([name]) => name))('--help of %s says what it does, and has an example of it', async (name) => {
  const { code, stdout } = await give(`${name} --help`);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^volley ${name}[^\\n]*\\n\\n[A-Z].{20,}`));
  expect(stdout).toMatch(new RegExp(`Examples:\\s+volley ${name}\\b`));
  if (name !== 'help') expect(await give(`help ${name}`)).toEqual({ code, stdout, stderr: '' });
});

test.each([
  ['--log-level warn prune --dry-run', 'volley prune <job>'],
  ['--log-level=warn abandon', 'volley abandon <run>'],
  ['--log-level warn help run', 'volley run <job>'],
  ['help --log-level warn run', 'volley run <job>'],
  ['--dry-run prune', 'volley prune <job>'],
  ['--older-than 90d prune job.yaml', 'volley prune <job>'],
  ['--json chat --room ops read', 'volley chat read'],
  ['', 'volley <verb>'],
])('the verb of "%s" is found behind its flags', async (typed, first) => {
  const { code, stdout } = await give(`${typed} --help`);
  expect([code, stdout.split('\n')[0]]).toEqual([0, first]);
});

test.each([
  'run -- --job.yaml',
  'run --log-level warn -- --job.yaml',
  '--log-level warn run -- --job.yaml',
  '-- run --job.yaml',
])('behind -- stand no flags, as in scripts that put it before any path: %s', async (typed) => {
  const { error } = await give(typed);
  const expected = { code: 'bad-job', message: expect.stringContaining('Cannot read the job ./--job.yaml') };
  expect(error).toMatchObject(expected);
});

test.each([
  ['help', /^Topics:/],
  ['help --log-level warn', /^Topics:/],
  ['help input', /^# Input/],
])('%s prints a page of the reference', async (typed, text) => {
  expect(await give(typed)).toMatchObject({ code: 0, stdout: expect.stringMatching(text) });
});

test.each([
  ['', 'Name a verb, such as run', 'Usage: volley <verb>; see volley --help'],
  ['--foo', 'Name a verb, such as run'],
  ['run a.yaml --dry-run', 'There is no --dry-run: volley plan <job> shows what would be sent, and sends nothing'],
  ['run --dryRun a.yaml', 'There is no --dry-run: volley plan'],
  ['rnu a.yaml', 'There is no such verb. Did you mean run?'],
  ['--no-json prun job.yaml', 'Name a verb, such as run'],
  ['xyzzyx', 'There is no such verb'],
  ['jobs/a.yaml', 'A verb is missing before the path'],
  ['run', 'Something is missing behind the verb', 'Usage: volley run <job>; see volley run --help'],
  [
    'campaign set 101',
    'Something is missing behind the verb',
    'Usage: volley campaign set <id> <status> --job …; see volley campaign set --help',
  ],
  ['retry out/sale/x', 'A flag is missing: --only', 'Usage: volley retry <run> --only …; see volley retry --help'],
  ['gateway channel desk', 'Flags are missing: webhook, queue, job'],
  ['plan --foo a.yaml', 'There is no --foo'],
  ['prune a.yaml --oldr-than 90d', 'There is no --oldr-than. Did you mean --older-than?'],
  ['chat read --roon ops --job a.yaml', 'There is no --roon. Did you mean --room?'],
  ['gateway frob', 'Name what to do: webhook, channel, update, send'],
  ['gateway', 'Name what to do: webhook, channel, update, send'],
  ['schema x', 'Unknown argument: x'],
  ['run a.yaml b.yaml', 'Unknown argument: b.yaml'],
  ['settle out/sale/x --export', 'Cannot use --export: no value follows it, expected one'],
  ['settle out/x --no-export', 'Cannot use --export: it is given without its value'],
  ['settle out/x', 'Cannot settle: expected one of --receipts, --export and --assume', '--export settle by proof'],
  [
    'settle out/x --export a.csv --assume sent --confirm 1',
    'Cannot use --assume together with --export, expected one of them',
  ],
  ['settle out/x --export a.csv --confirm 3', 'A flag is missing: --confirm needs --assume'],
  ['settle out/x --assume not-sent', 'A flag is missing: --assume needs --confirm'],
  ['settle out/x --assume maybe --confirm 3', 'Cannot use --assume: it is "maybe", expected one of "sent", "not-sent"'],
  ['settle out/x --assume sent --confirm all', 'Cannot use --confirm: it is "all", expected a whole number from 0'],
  ['retry out/x --only in-doubt', 'Cannot use --only: it is "in-doubt", expected one of "rejected"'],
  [
    'retry out/x --only rejected --only not-sent',
    'Cannot use --only: "rejected" and "not-sent" are given, expected one',
  ],
  ['retry out/x --only rejected --code ,', 'Cannot use --code: it is ",", expected codes such as'],
  ['retry out/x --only not-sent --code 1100', 'Cannot retry: --code is for --only rejected', ''],
  ['chat read --page-size x --job a.yaml', 'Cannot use --page-size: it is "x", expected a whole number from 1'],
  ['chat read --room= --job a.yaml', 'Cannot use --room: it is empty, expected some text'],
  ['campaign set 101 NEW --job a.yaml', 'Cannot use <status>: it is "NEW", expected one of RUNNING, PAUSED'],
  ['sandbox --port abc', 'Cannot use --port: it is "abc", expected a whole number from 0 to 65535'],
  ['listen --output events.ndjson --port 8e1', 'Cannot use --port: it is "8e1"'],
  ['listen --output events.ndjson --port 65536', 'Cannot use --port: it is "65536"'],
  ['listen --output a --receipts b', 'Cannot use --receipts together with --output'],
  ['run a.yaml --metrics-port ninety', 'Cannot use --metrics-port: it is "ninety"'],
  ['run a.yaml --metrics-file m.txt', 'Cannot use --metrics-file: it is "m.txt", expected a name that ends in .prom'],
  ['run a.yaml --log-level loud', 'Cannot use --log-level: it is "loud", expected one of "info", "warn"'],
  ['prune x --older-than 0h --dry-run.x=ja', 'dry-run', ''],
  ['prune x --older-than 0h --dryRun=ja', 'dry', ''],
  ['test a.yaml --longest --ucs2', 'Cannot use --longest together with --ucs2'],
])('"%s" is refused with what to do, and nothing is done', async (typed, message, hint = 'Usage: volley ') => {
  const { error, stdout } = await give(typed);
  expect(error).toMatchObject({ name: 'UserError', code: 'bad-flag', message: expect.stringContaining(message) });
  expect(error.hint ?? '').toContain(hint);
  expect(stdout).toBe('');
});

test.each(VERBS)('a flag of yes or no of %s with another value than true or false is refused', async (name, verb) => {
  const flags = Object.keys(verb.flags).filter((flag) => verb.flags[flag]?.type === 'boolean');
  for (const flag of flags.flatMap((each) => [`--${each}`, `--no-${each}`])) {
    for (const value of ['ja', '1', 'True', '']) {
      const { error } = await give([...name.split(' '), 'x', `${flag}=${value}`]);
      const message = `Cannot use ${flag}: it is given as "${value}", expected the flag alone`;
      expect(error).toMatchObject({ code: 'bad-flag', message });
    }
  }
});

test('no flag of any verb takes a secret itself, which other users of the machine could read: only where it stands', () => {
  const flags = VERBS.flatMap(([, verb]) => Object.keys(verb.flags));
  const ofSecrets = flags.filter((flag) => /key|token|secret|password|credential|auth/i.test(flag));
  expect(ofSecrets).toContain('secret-file');
  expect(ofSecrets.filter((flag) => !/-(env|file)$/.test(flag))).toEqual([]);
});

test('of a flag of the log that is given twice the last one counts', async () => {
  const { terminal } = aTerminal();
  const flags = '--log-level info --log-format pretty --log-level silent --log-format json';
  await runCommandLine(`help ${flags}`.split(' '), terminal, 200);
  expect(terminal.logging).toEqual({ level: 'silent', format: 'json', isAsked: true });
});
